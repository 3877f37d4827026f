//! The procedural macros of Spate
