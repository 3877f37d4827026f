// errors: 1

pub fn lines(mark: String) -> spate::Pipeline {
    spate::pipeline! {
        let mark = mark;
        memory -> bytes -> filter(|line| line.len() > mark.len()) -> capture
    }
}
