//! The fuzzer: one program for all fuzz targets. `COLDFRAME_FUZZ_TARGET` has the name of the
//! target, and the arguments are libFuzzer's. `scripts/fuzz.mjs` builds and runs the program.
//!
//! A target is a function of the crate that the target tests, in `fuzzing.rs` or `fuzzing/`. Only
//! the feature `fuzzing` and tests compile these modules. The tests repeat the kept inputs
//! (`corpus/`), so that a regression is found without a fuzzer.
#![no_main]

use std::sync::OnceLock;

/// A target's name and function.
type Target = (&'static str, fn(&[u8]));

const TARGETS: &[Target] = &[
    ("frames", coldframe_protocol::fuzzing::frames),
    ("kernel-calls", coldframe_kernel::fuzzing::calls),
    ("kernel-snapshot", coldframe_kernel::fuzzing::snapshot),
    ("archive", coldframe_kernel::fuzzing::archive),
    ("permissions", coldframe_kernel::fuzzing::permissions),
    ("paths", coldframe_kernel::fuzzing::paths),
    ("crypto", coldframe_crypto::fuzzing::requests),
    ("snapshot-head", coldframe_core::fuzzing::head),
    ("memory-head", coldframe_vm::fuzzing::head),
    ("revive", coldframe_core::fuzzing::revive),
    ("edge-link", coldframe_edge_link::fuzzing::frames),
    ("client-hello", coldframe_edge::fuzzing::client_hello),
    ("certificates", coldframe_edge::fuzzing::certificates),
    ("names", coldframe_egress::fuzzing::names),
    ("dns-answers", coldframe_egress::fuzzing::answers),
    ("egress-rules", coldframe_egress::fuzzing::rules),
    ("http-heads", coldframe_egress::fuzzing::http),
];

static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();

/// Returns the target that the environment names. Ends the process if there is no such target.
fn choose() -> fn(&[u8]) {
    let name = std::env::var("COLDFRAME_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    let Some((_, target)) = found else {
        let names: Vec<_> = TARGETS.iter().map(|(known, _)| *known).collect();
        eprintln!("COLDFRAME_FUZZ_TARGET: expected one of {}, received {name:?}", names.join(", "));
        std::process::exit(2);
    };
    *target
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    CHOSEN.get_or_init(choose)(data);
});
