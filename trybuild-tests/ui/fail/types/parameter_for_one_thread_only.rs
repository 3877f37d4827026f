// errors: 1

use std::rc::Rc;

spate::pipeline! {
    pub lines(prefix: Rc<str>) {
        memory
        -> bytes
        -> map(|line| format!("{prefix}{}", line.len()))
        -> capture
    }
}
