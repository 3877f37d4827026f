//! How much memory a payload can ask for before its bytes are seen. A binary of its own: its allocator counts.
#![allow(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use spate_avro::{AvroErrorKind, FromAvro, Reader, wire};

/// The system's allocator, which remembers the largest request.
struct Counting;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: it hands every call on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The largest request while a value is read that fails at its first item.
fn largest<W, T: for<'b> FromAvro<'b, W>>(payload: &[u8]) -> usize {
    LARGEST.store(0, Ordering::Relaxed);
    let read = T::read(&mut Reader::new(payload, payload.len())).map(drop);
    let largest = LARGEST.load(Ordering::Relaxed);
    let kind = read
        .expect_err("the first item has a length below zero")
        .kind();
    assert_eq!(kind, AvroErrorKind::NegativeLength { length: -1 });
    largest
}

#[test]
fn a_count_alone_makes_no_room() {
    /// Items, of which each may take one byte or two.
    const COUNT: usize = 500_000;
    // 500,000 as a zigzag varint; what follows are lengths of -1.
    let mut payload = vec![0xc0, 0x84, 0x3d];
    payload.resize(3 + 2 * COUNT, 1);
    let bytes = payload.len();
    let list = largest::<wire::Array<wire::Str>, Vec<String>>(&payload);
    assert!(list <= bytes, "{list} for {bytes}");
    assert!(
        COUNT * size_of::<Wide>() > 100 * bytes,
        "the count asks for more"
    );
    let wide = largest::<wire::Array<wire::Str>, Vec<Wide>>(&payload);
    assert!(wide <= bytes, "{wide} for {bytes}");
    // A table has buckets to spare: up to sixteen sevenths, and their marks.
    let map = largest::<wire::Map<wire::Int>, HashMap<String, i32>>(&payload);
    assert!(map <= 3 * bytes, "{map} for {bytes}");
}

/// A large value of few bytes.
struct Wide(#[allow(dead_code, reason = "it takes its room")] [u64; 64]);

impl<'b> spate_avro::FromWire<'b, wire::Str> for Wide {
    fn placeholder() -> Self {
        Wide([0; 64])
    }

    fn from_wire(_: &'b str) -> Result<Self, AvroErrorKind> {
        Ok(Wide([0; 64]))
    }
}
