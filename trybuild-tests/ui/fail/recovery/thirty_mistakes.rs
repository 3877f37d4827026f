// errors: 21

spate::pipeline! {
    pub orders {
        memory
        -> bytes
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> mpa(|x| x)
        -> discard
    }
}
