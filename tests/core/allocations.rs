//! Once a stream is warm, a record allocates nothing, and a packet once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use serde_json::json;
use streamscope::perf::PerfFlags;

use crate::corpus;
use crate::support::{Clock, pipeline, record};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts what it passes on to the system's"
)]
// SAFETY: every call is passed on as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn none_a_record_and_one_a_packet() {
    for (name, values) in corpus::fixtures() {
        let (mut pipeline, mut clock) = (
            pipeline(
                &json!({ "messageFormat": corpus::format(name) }),
                PerfFlags::default(),
            ),
            Clock::new(),
        );
        let mut offset = 0;
        let mut packet = |counted: bool| {
            let before = COUNT.get();
            for value in values
                .iter()
                .cycle()
                .skip(offset as usize % values.len())
                .take(32)
            {
                pipeline.push(&record(value, offset), clock.0);
                offset += 1;
            }
            let rows = COUNT.get() - before;
            let packet = clock.flush(&mut pipeline).unwrap();
            assert_eq!(packet.rows, 32);
            if counted {
                assert_eq!(
                    (rows, COUNT.get() - before - rows),
                    (0, 1),
                    "{name}: allocations of rows and of their packet"
                );
            }
        };
        (0..100).for_each(|_| packet(false));
        (0..20).for_each(|_| packet(true));
    }
}
