//! What a stage of one's own is generic over is written as anywhere: several types, constants, inside of a path; a comma may end any list.
#![deny(warnings)]

pub mod ops {
    pub fn cut<const N: usize>(line: &[u8]) -> [u8; N] {
        let mut cut = [0; N];
        cut.iter_mut().zip(line).for_each(|(to, from)| *to = *from);
        cut
    }

    pub fn pair<A, B: From<u8>>(first: A, second: u8) -> (A, B) {
        (first, B::from(second))
    }

    pub struct Table<T>(pub T);

    impl<T: From<u8>> Table<T> {
        pub fn size<A>(pair: (A, T)) -> u64
        where
            T: Into<u64>,
        {
            pair.1.into()
        }
    }
}

spate::pipeline! {
    pub sizes(size: u8,) {
        memory
        -> bytes
        -> ops::cut::<4>
        -> ops::pair::<_, u32,>(size,)
        -> ops::Table::<u32>::size::<[u8; 4]>
        -> map(|size,| size + 1,)
        -> discard::<u64,>
    }
}
