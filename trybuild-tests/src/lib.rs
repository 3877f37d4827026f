//! UI tests of the macros of Spate
