// errors: 1

macro_rules! lines_to {
    ($name:ident, $sink:ident) => {
        spate::pipeline! {
            pub $name { memory -> bytes -> $sink }
        }
    };
}

lines_to!(lines, captur);
