CREATE TABLE shop.orders (id UInt64, v UInt32) ENGINE = MergeTree ORDER BY id;
CREATE TABLE shop.refunds (
    reason LowCardinality(String) DEFAULT 'unknown',
    id UInt64,
    loaded DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY id;
