//! Work that is done for some time, and what it counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Says what was done.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) records: u64,
    pub(crate) packets: u64,
    /// Bytes of packets.
    pub(crate) out: u64,
    /// Bytes of records.
    pub(crate) read: u64,
}

/// Works for some time, as JSON says; what the first records cost falls out.
pub(crate) fn measure(mut work: impl FnMut(&mut Counts), time: Duration) -> Value {
    let mut run = |time| {
        let (mut counts, start) = (Counts::default(), Instant::now());
        let before = [&ALLOCATIONS, &ALLOCATED].map(|count| count.load(Ordering::Relaxed));
        while start.elapsed() < time {
            work(&mut counts);
        }
        let seconds = start.elapsed().as_secs_f64();
        json!({
            "records": counts.records, "packets": counts.packets, "out": counts.out, "in": counts.read, "seconds": seconds,
            "allocations": ALLOCATIONS.load(Ordering::Relaxed) - before[0],
            "allocated": ALLOCATED.load(Ordering::Relaxed) - before[1],
        })
    };
    run(time / 4);
    run(time)
}

/// Is how many allocations there were.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Is how many bytes they asked for.
static ALLOCATED: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    ALLOCATED.fetch_add(bytes as u64, Ordering::Relaxed);
}

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts what it passes on to the system's"
)]
// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
