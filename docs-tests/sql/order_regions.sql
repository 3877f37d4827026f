CREATE TABLE order_regions (
    order_id UInt64,
    region LowCardinality(String)
) ENGINE = MergeTree ORDER BY order_id;
