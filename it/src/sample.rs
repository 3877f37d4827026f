//! The orders that tests produce: order `n` is the same in every run, and so is the row that it becomes.

use spate_test::avro::{long, text};

/// One order, and how it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The names are the schema's.
pub struct Sample {
    pub order_id: i64,
    pub region: String,
    pub note: Option<String>,
    pub total_cents: i64,
    pub created_at: i64,
    pub lines: Vec<(String, i32)>,
}

impl Sample {
    /// Order `n`. Fields of several widths, so that a decoder that is off by one byte cannot pass.
    #[must_use]
    pub fn nth(n: u64) -> Sample {
        let id = i64::try_from(n).expect("a small number");
        let lines = (0..id % 4).map(|line| {
            (
                format!("sku-{}", id * 7 + line),
                i32::try_from(line).unwrap_or(0) * 50 + 1,
            )
        });
        Sample {
            order_id: id,
            region: ["emea", "apac", "amer-\u{00fc}"][n as usize % 3].to_owned(),
            note: n.is_multiple_of(2).then(|| "x".repeat(n as usize % 40)),
            total_cents: id * 101,
            created_at: 1_700_000_000_000 + id * 1_001,
            lines: lines.collect(),
        }
    }

    /// The Avro body.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let mut out = Vec::new();
        long(&mut out, self.order_id);
        text(&mut out, &self.region);
        match &self.note {
            None => long(&mut out, 0),
            Some(note) => {
                long(&mut out, 1);
                text(&mut out, note);
            }
        }
        long(&mut out, self.total_cents);
        long(&mut out, self.created_at);
        if !self.lines.is_empty() {
            long(&mut out, self.lines.len() as i64);
            for (sku, qty) in &self.lines {
                text(&mut out, sku);
                long(&mut out, i64::from(*qty));
            }
        }
        long(&mut out, 0);
        out
    }

    /// The body behind the registry's frame: a zero byte and the schema id.
    #[must_use]
    pub fn framed(&self, schema_id: u32) -> Vec<u8> {
        let mut out = vec![0];
        out.extend_from_slice(&schema_id.to_be_bytes());
        out.extend_from_slice(&self.body());
        out
    }

    /// The row as a query with tab-separated output shows it, times in milliseconds.
    #[must_use]
    pub fn row(&self, partition: i32, offset: i64) -> String {
        let items: i32 = self.lines.iter().map(|line| line.1).sum();
        let note = self.note.as_deref().unwrap_or("\\N");
        let Sample {
            order_id,
            region,
            total_cents,
            created_at,
            ..
        } = self;
        format!(
            "{order_id}\t{partition}\t{offset}\t{region}\t{note}\t{total_cents}\t{created_at}\t{items}"
        )
    }
}
