// errors: 2

#[allow(unused_labels)]
pub fn lines() -> spate::Pipeline {
    'files: loop {
        break spate::pipeline!(memory -> bytes -> filter(|line| if line.is_empty() { break 'files } else { true }) -> capture);
    }
}
