// errors: 1

spate::pipeline! {
    pub words {
        memory -> bytes -> flat_map(|line| for word in line.split(|byte| *byte == b' ') { yield word; }) -> capture
    }
}
