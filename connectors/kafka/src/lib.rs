//! The Kafka source of Spate
