// errors: 2

spate::pipeline! {
    /// Größe und Farbe: ø, 漢字.
    pub größe {
        memory -> bytes -> größer: fliter(|ä| ä.len() > 0) -> map(|漢| 漢.) -> discard
    }
}
