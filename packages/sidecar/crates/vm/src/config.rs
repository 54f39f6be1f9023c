//! wasmtime's configuration.
//!
//! A precompiled module records its configuration, and the process that loads the module must have
//! an equal configuration. Therefore `crates/imager` and the core use the configuration of
//! [`engine_config`].
//!
//! Epochs and fuel are not used, because they cost 20 % in an interpreter's dispatch loop. The
//! guest polls (`imports.rs`), and a guest that does not poll is stopped through its memory
//! (`gate.rs` of the crate `memory`). Stacks are fibers, so that a guest can be suspended at any
//! depth. The module has no map from code to the offsets of wasm instructions, and no unwind
//! tables. Both serve only backtraces of wasm frames, which no error contains, and take a sixth of
//! the file. Next: `stack.rs`.

use coldframe_memory::{GUARD, RESERVATION};
use wasmtime::Config;

/// The bytes of native stack for guest code. The engine limits its own shadow stack in linear
/// memory, and a recursion must always reach that limit first.
pub(crate) const WASM_STACK: usize = 32 << 20;
/// The bytes of a fiber's native stack, for guest code and the imports that guest code calls.
pub(crate) const FIBER_STACK: usize = WASM_STACK + (1 << 20);

/// The processor features that guest code may use beyond the architecture's base, by the compiler's
/// names. A snapshot also names these features.
#[cfg(target_arch = "x86_64")]
pub const CPU_FEATURES: &[&str] = &["sse3", "ssse3", "sse41", "sse42", "popcnt"];
/// The processor features that guest code may use beyond the architecture's base, by the compiler's
/// names. A snapshot also names these features.
#[cfg(not(target_arch = "x86_64"))]
pub const CPU_FEATURES: &[&str] = &[];

/// Returns wasmtime's configuration for compiling and running the guest.
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
        .generate_address_map(false)
        .native_unwind_info(false)
        .wasm_simd(true)
        .wasm_relaxed_simd(false)
        .wasm_multi_memory(false)
        .wasm_memory64(false)
        .wasm_tail_call(false);
    config
}
