CREATE TABLE regions (
    code LowCardinality(Strng),
    number UInt32
) ENGINE = Log
