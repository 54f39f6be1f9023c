//! Native stacks for guests, kept for reuse. Next: `creator.rs`.
//!
//! A fresh stack costs a mapping, a guard and the page faults of its first pages. A kept stack
//! avoids these costs. Only the first [`KEEP`] bytes from the top stay committed. Further pages,
//! which a deep recursion has used, are freed.

use coldframe_panics::process::Mutex;
use coldframe_sys as sys;
use std::ops::Range;
use std::sync::Arc;
use wasmtime::{StackCreator, StackMemory};

/// The bytes at the top of a stack that stay committed between two guests.
const KEEP: usize = 64 << 10;
/// The inaccessible bytes below a stack.
const STACK_GUARD: usize = 64 << 10;
/// The largest number of stacks kept for reuse.
const MAX_KEPT: usize = 256;

/// Makes and keeps stacks. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Stacks {
    free: Arc<Mutex<Vec<Mapping>>>,
}

/// One mapping: the guard, then the stack.
struct Mapping {
    base: usize,
    /// The length of guard and stack together.
    len: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no fiber uses the mapping.
        unsafe { sys::release(self.base, self.len) };
    }
}

struct Stack {
    mapping: Option<Mapping>,
    bottom: usize,
    top: usize,
    free: Arc<Mutex<Vec<Mapping>>>,
}

impl Drop for Stack {
    fn drop(&mut self) {
        let Some(mapping) = self.mapping.take() else { return };
        // SAFETY: the fiber was dropped, and the range is inside the mapping.
        if unsafe { sys::discard(self.bottom, self.top - KEEP - self.bottom) }.is_err() {
            return;
        }
        let mut free = self.free.lock();
        if free.len() < MAX_KEPT {
            free.push(mapping);
        }
    }
}

// SAFETY: a stack is page-aligned, fixed while it exists, and has inaccessible pages below it. A
// stack may contain bytes of an earlier fiber. Guest code cannot read these bytes: the compiler
// initialises locals, and the guest's data is in linear memory.
unsafe impl StackCreator for Stacks {
    fn new_stack(&self, size: usize, _zeroed: bool) -> Result<Box<dyn StackMemory>, wasmtime::Error> {
        let len = size + STACK_GUARD;
        let kept = self.free.lock().pop();
        let mapping = match kept {
            Some(mapping) if mapping.len == len => mapping,
            _ => {
                let base = sys::reserve(len).map_err(wasmtime::Error::msg)?;
                let mapping = Mapping { base, len };
                // SAFETY: the range is inside the fresh reservation.
                unsafe { sys::allow(base + STACK_GUARD, size) }.map_err(wasmtime::Error::msg)?;
                mapping
            }
        };
        let bottom = mapping.base + STACK_GUARD;
        Ok(Box::new(Stack { bottom, top: bottom + size, mapping: Some(mapping), free: self.free.clone() }))
    }
}

// SAFETY: the range and its guard belong to this stack alone until the stack is dropped.
unsafe impl StackMemory for Stack {
    fn top(&self) -> *mut u8 {
        self.top as *mut u8
    }

    fn range(&self) -> Range<usize> {
        self.bottom..self.top
    }

    fn guard_range(&self) -> Range<*mut u8> {
        (self.bottom - STACK_GUARD) as *mut u8..self.bottom as *mut u8
    }
}
