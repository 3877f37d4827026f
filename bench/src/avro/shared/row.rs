//! The row of `bench/sql/orders.sql`, as code by hand has it.

/// A row.
pub(crate) struct Row<'b> {
    pub(crate) order_id: u64,
    pub(crate) region: &'b str,
    pub(crate) total_cents: u64,
    /// Milliseconds since 1970.
    pub(crate) placed_at: i64,
    pub(crate) n_lines: u32,
}
