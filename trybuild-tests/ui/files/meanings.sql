CREATE TABLE meanings (
    price Decimal(18, 4), at DateTime64(3), day Date32, id UUID
) ENGINE = MergeTree ORDER BY id;
