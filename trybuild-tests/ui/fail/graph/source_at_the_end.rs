// errors: 2

spate::pipeline! {
    pub lines {
        memory -> bytes -> memory
    }

    pub objects {
        memory -> bytes -> s3
    }
}
