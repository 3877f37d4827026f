-- `part` and `off` tell which record a row came from: tests compare them with what was produced and committed.
CREATE TABLE orders (
    id UInt64,
    part Int32,
    off Int64,
    region String,
    note Nullable(String),
    total_cents Int64,
    created_at DateTime64(3, 'UTC'),
    items UInt32
) ENGINE = MergeTree ORDER BY (part, off)
SETTINGS non_replicated_deduplication_window = 10000;
