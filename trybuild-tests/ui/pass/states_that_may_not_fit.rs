//! A state by `let .. else`: what does not fit ends the start, as an error by `?` does.
#![deny(warnings)]

use spate::StageError;

spate::pipeline! {
    /// Lines of some length.
    pub lines(least: Option<usize>) {
        let Some(least) = least else { return Err(StageError::new("no least length")) };
        let (Ok(most) | Err(most)) = "80".parse::<usize>().map_err(|_| 100);
        memory -> bytes -> filter(|line| line.len() >= least && line.len() <= most) -> capture
    }
}
