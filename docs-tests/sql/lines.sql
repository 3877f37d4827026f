CREATE TABLE lines (
    order_id UInt64,
    sku String,
    qty UInt32
) ENGINE = MergeTree ORDER BY order_id;
