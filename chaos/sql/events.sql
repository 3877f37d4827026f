-- `part` and `off` tell which record a row came from: the auditor compares them with what was produced and committed.
CREATE TABLE events (
    part Int32,
    off Int64,
    key String,
    id UInt64,
    amount Int64,
    note String
) ENGINE = MergeTree ORDER BY (part, off)
SETTINGS non_replicated_deduplication_window = 10000;
