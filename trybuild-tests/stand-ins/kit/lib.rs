//! Passes the facade on, by its name and with all that is in it.

pub use spate;

/// What the facade has, under a name of the house.
pub mod etl {
    pub use spate::*;
}
