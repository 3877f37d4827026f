CREATE TABLE orders (order_id UInt64) ENGINE = Log;
CREATE TABLE shop.refunds (refund_id UInt64) ENGINE = Log;
