//! Compiled at-least-once ETL pipelines: the facade crate
