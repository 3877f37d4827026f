CREATE TABLE every (
    b Bool, i8 Int8, i16 Int16, i32 Int32, i64 Int64, u8 UInt8, u16 UInt16, u32 UInt32, u64 UInt64,
    f32 Float32, f64 Float64,
    s String, owned String, raw String, fixed FixedString(4),
    low LowCardinality(String), low_null LowCardinality(Nullable(String)), nullable Nullable(Int64), never_null Nullable(Int64),
    day Date, second DateTime, milli DateTime64(3, 'UTC'),
    id UUID, price Decimal(9, 2), wide_day Date32, micro DateTime64(6), nano Nullable(DateTime64(9)),
    list Array(UInt64), lists Array(Array(String)), slice Array(UInt32)
) ENGINE = MergeTree ORDER BY i64;
