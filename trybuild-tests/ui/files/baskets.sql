CREATE TABLE baskets (
    id Int64,
    at DateTime64(3),
    lines Array(Int32)
) ENGINE = MergeTree ORDER BY id
