//! How records of one schema become records of another, by Avro's rules of schema resolution: decided once for two schemas, without
//! any record. Which field goes where, which is passed over, what is promoted, the bytes of defaults. What can never be read is one
//! error that names the paths of the fields.
//!
//! <https://avro.apache.org/docs/1.12.0/specification/#schema-resolution>
//!
//! Where we are stricter than the specification: two different logical types never resolve, and where it is silent: of several branches
//! of the reader's union that could hold a value, one of the very type comes before one that needs a promotion.

mod defaults;
mod incompatible;
mod node;
mod pass;
mod planner;
mod promotion;
mod records;
#[cfg(test)]
mod tests;
mod unions;

pub use incompatible::{Cause, Differences, Incompatible, Sites};
pub use node::{Branch, Node, Step, Wanted};

/// What to do with a value of the writer's, by its number in the plan.
pub type NodeId = usize;

/// How records of one writer's schema become records of the reader's.
#[derive(Debug, PartialEq, Eq)]
pub struct Plan {
    /// What to do with each value of the writer's.
    pub nodes: Vec<Node>,
    /// What to do with a whole record.
    pub root: NodeId,
    /// Values of the writer's that the reader has nothing for: a branch of a union, a symbol. Records that have one are refused one by
    /// one, and the others are read.
    pub gaps: Differences,
}

/// Writes a number as the encoding has it.
#[inline(always)]
pub fn long(value: i64, out: &mut Vec<u8>) {
    let mut left = (value << 1 ^ value >> 63) as u64;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}
