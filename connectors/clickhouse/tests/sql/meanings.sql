-- Columns for the values that decoders make.
CREATE TABLE meanings (
    id UUID, maybe_id Nullable(UUID),
    day Date, wide_day Date32, maybe_day Nullable(Date32),
    milli DateTime64(3, 'UTC'), micro DateTime64(6, 'UTC'), nano DateTime64(9, 'UTC'),
    milli_as_micro DateTime64(6, 'UTC'), milli_as_nano DateTime64(9, 'UTC'), micro_as_nano Nullable(DateTime64(9, 'UTC')),
    milli_as_ten DateTime64(4, 'UTC'),
    small Decimal(9, 2), middle Decimal(18, 4), large Decimal(38, 10), huge Decimal(76, 0), maybe Nullable(Decimal32(2)),
    ids Array(UUID), prices Array(Nullable(Decimal(10, 2)))
) ENGINE = MergeTree ORDER BY tuple();
