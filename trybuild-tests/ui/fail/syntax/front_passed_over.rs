// errors: 1

spate::__private::pipeline_impl! { memory -> bytes -> discard }
