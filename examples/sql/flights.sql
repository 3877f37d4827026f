-- One row per flight that arrived where it was meant to.
-- `non_replicated_deduplication_window` lets the server recognise a block that is sent twice (after a lost answer): each
-- block carries a token. A ReplicatedMergeTree does so without the setting.
CREATE TABLE flights
(
    time_hour     DateTime64(3, 'UTC'),
    carrier       LowCardinality(String),
    flight        Int32,
    route         LowCardinality(String) COMMENT 'From and to: JFK-LAX',
    arr_delay     Int32 COMMENT 'Minutes late; negative is early',
    total_minutes Nullable(Int32) COMMENT 'From the scheduled departure to the landing: late in leaving, then in the air'
)
ENGINE = MergeTree
ORDER BY (carrier, time_hour)
SETTINGS non_replicated_deduplication_window = 1000;
