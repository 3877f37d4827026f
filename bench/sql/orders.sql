CREATE TABLE orders
(
    order_id    UInt64,
    region      String,
    total_cents UInt64,
    placed_at   DateTime64(3),
    n_lines     UInt32
)
ENGINE = MergeTree
ORDER BY order_id;
