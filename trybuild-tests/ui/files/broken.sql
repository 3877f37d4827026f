CREATE TABLE orders (
    order_id UInt64
    region String
) ENGINE = Log;
