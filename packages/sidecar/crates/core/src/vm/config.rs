//! The engine's configuration: one function, because a precompiled module records what it was compiled for, and the host that
//! loads it must have been configured alike. `crates/imager` compiles with it, [`crate::Core`] runs with it.
//!
//! No epochs and no fuel: they cost 20 % in an interpreter's dispatch loop. The guest polls (`vm/imports.rs`), and a guest that does
//! not is stopped through its memory (`memory/gate.rs`). Stacks are fibers, so that a guest can stop in the middle of anything.

use crate::memory::{GUARD, RESERVATION};
use wasmtime::Config;

/// Native stack for guest code. The engine's own limit is its shadow stack in linear memory; this one must never be reached first.
pub(crate) const WASM_STACK: usize = 32 << 20;
/// Native stack of a fiber: guest code plus the host functions that it calls.
pub(crate) const FIBER_STACK: usize = WASM_STACK + (1 << 20);

/// What the guest's code may use of a processor, besides what all of them have: the features by the compiler's names. A snapshot names them too.
#[cfg(target_arch = "x86_64")]
pub const CPU_FEATURES: &[&str] = &["sse3", "ssse3", "sse41", "sse42", "popcnt"];
/// What the guest's code may use of a processor, besides what all of them have: the features by the compiler's names. A snapshot names them too.
#[cfg(not(target_arch = "x86_64"))]
pub const CPU_FEATURES: &[&str] = &[];

/// The configuration shared by compiler and host.
pub fn engine_config() -> Config {
    let mut config = Config::new();
    config
        .memory_reservation(RESERVATION as u64)
        .memory_guard_size(GUARD as u64)
        .memory_reservation_for_growth(0)
        .guard_before_linear_memory(false)
        .memory_may_move(false)
        .memory_init_cow(false)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(FIBER_STACK)
        .concurrency_support(false)
        .wasm_backtrace_max_frames(None)
        .wasm_simd(true)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false);
    config
}
