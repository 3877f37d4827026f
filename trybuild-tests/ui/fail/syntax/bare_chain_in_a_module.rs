// errors: 1

spate::pipeline! { memory -> bytes -> capture }
