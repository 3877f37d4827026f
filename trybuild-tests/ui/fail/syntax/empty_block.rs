// errors: 1

spate::pipeline! {}
