CREATE TABLE visits (
    visitor UInt64,
    url String,
    raw_url String EPHEMERAL,
    visitor_id UInt64 ALIAS visitor
) ENGINE = MergeTree ORDER BY visitor;
