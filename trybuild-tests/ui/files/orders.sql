CREATE TABLE orders (
    order_id UInt64,
    region LowCardinality(String),
    total_cents Int64,
    note Nullable(String),
    placed_at DateTime64(3, 'UTC') DEFAULT now64(3),
    day Date MATERIALIZED toDate(placed_at),
    status Enum8('new' = 1, 'paid' = 2) DEFAULT 'new'
)
ENGINE = MergeTree
ORDER BY order_id;
