//! The allocator of the edge process, which overwrites memory before it is free. The libraries for
//! HTTP and TLS copy headers, and so values of secrets, into buffers of their own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

/// The system's allocator, with memory that is overwritten when it is freed.
pub struct Overwriting;

// SAFETY: every call is passed to `System` with the layout of the caller. `overwrite` writes only
// to memory that the caller frees.
unsafe impl GlobalAlloc for Overwriting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller frees `memory`, which has the size of `layout`.
        unsafe {
            overwrite(memory, layout.size());
            System.dealloc(memory, layout);
        }
    }

    // The default `realloc` allocates, copies, and calls `dealloc`.
}

/// Overwrites memory. The compiler keeps the writes, because `black_box` may read them.
///
/// # Safety
/// `memory` is valid for writes of `size` bytes.
unsafe fn overwrite(memory: *mut u8, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { memory.write_bytes(0, size) };
    black_box(memory);
}
