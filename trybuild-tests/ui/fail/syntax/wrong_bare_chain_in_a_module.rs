// errors: 1

spate::pipeline! { memory -> bytes -> filtre(|line| !line.is_empty()) -> capture }
