-- Every type that rows can be written to, and the kinds of defaults.
CREATE TABLE IF NOT EXISTS everything (
    flag Bool,
    i8 Int8, i16 Int16, i32 Int32, i64 Int64,
    u8 UInt8, u16 UInt16, u32 UInt32, u64 UInt64,
    f32 Float32, f64 Float64,
    text String, bytes String CODEC(ZSTD(1)),
    code FixedString(3),
    maybe Nullable(UInt32),
    sure Nullable(Float64) COMMENT 'never null from here',
    region LowCardinality(String),
    note LowCardinality(Nullable(String)),
    day Date, second DateTime('UTC'), at DateTime64(3, 'UTC'),
    maybe_at Nullable(DateTime64(3)),
    numbers Array(UInt32), names Array(LowCardinality(String)), holes Array(Nullable(Float64)), grid Array(Array(UInt8)),
    loaded DateTime DEFAULT now(),
    month UInt32 MATERIALIZED toYYYYMM(day),
    same String ALIAS text,
    INDEX by_region region TYPE set(100) GRANULARITY 4
) ENGINE = MergeTree ORDER BY (region, at) TTL day + INTERVAL 1 YEAR SETTINGS index_granularity = 8192;
