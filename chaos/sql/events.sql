-- `part` and `off` tell which record a row came from: the auditor compares them with what was produced and committed.
-- `stored` tells when, to find the fault behind a duplicate.
CREATE TABLE events (
    part Int32,
    off Int64,
    key String,
    id UInt64,
    amount Int64,
    note String,
    stored DateTime64(3) DEFAULT now64(3)
) ENGINE = MergeTree ORDER BY (part, off)
SETTINGS non_replicated_deduplication_window = 10000;
