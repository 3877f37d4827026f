//! Embedded services and scripted doubles for tests and demos of Spate
