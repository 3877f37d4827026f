CREATE TABLE arrivals
(
    carrier LowCardinality(String),
    delay Int32
)
ENGINE = MergeTree
ORDER BY carrier
SETTINGS non_replicated_deduplication_window = 1000;
