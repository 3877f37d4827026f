// errors: 3

spate::pipeline! {
    pub sizes {
        memory -> bytes -> rout(|line| line.len()) { 0 => drop, _ => capture }
    }

    pub copies {
        memory -> bytes -> te { all: capture, none: discard }
    }

    pub empty {
        memory -> bytes -> route(|line| line.len()) { 0 => drpo, _ => capture }
    }
}
