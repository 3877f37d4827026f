// errors: 1

spate::pipeline! {
    pub orders {
        map(to_row) -> clickhouse::<OrderRow>
    }
}
