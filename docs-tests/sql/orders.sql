CREATE TABLE orders (
    order_id UInt64,
    region LowCardinality(String),
    total_cents Int64,
    placed_at DateTime64(3, 'UTC'),
    inserted DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY order_id
SETTINGS non_replicated_deduplication_window = 1000;
