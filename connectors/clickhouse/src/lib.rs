//! The ClickHouse sink of Spate
