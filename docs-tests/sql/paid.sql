CREATE TABLE paid (
    order_id UInt64,
    region LowCardinality(String),
    read_at Int64
) ENGINE = MergeTree ORDER BY order_id;
