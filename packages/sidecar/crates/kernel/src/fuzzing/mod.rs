//! The fuzz targets of the kernel: functions over arbitrary bytes, which panic if the kernel breaks
//! a promise. `crates/fuzz` calls the targets with coverage feedback. The tests call the targets
//! with the kept inputs (`crates/fuzz/corpus`).
//!
//! `permissions/fuzzing.rs` has the target `permissions`. `world.rs` has a kernel with programs
//! without VMs, which most targets use.
#![expect(clippy::expect_used, clippy::panic, reason = "a target panics on a broken promise")]

mod archive;
mod calls;
mod paths;
mod snapshot;
mod world;

pub use crate::permissions::fuzzing::permissions;
pub use archive::archive;
pub use calls::calls;
pub use paths::paths;
pub use snapshot::snapshot;

#[cfg(test)]
mod tests {
    use coldframe_testing::run_kept_inputs;
    use proptest::prelude::*;

    #[test]
    fn kept_sequences_of_calls_keep_the_invariants() {
        run_kept_inputs("kernel-calls", super::calls);
    }

    proptest! {
        /// Random bytes are short sequences of calls and events.
        #[test]
        fn random_sequences_of_calls_keep_the_invariants(data in prop::collection::vec(any::<u8>(), 0..4_000)) {
            super::calls(&data);
        }
    }

    #[test]
    fn kept_snapshots_are_refused_or_usable() {
        run_kept_inputs("kernel-snapshot", super::snapshot);
    }

    #[test]
    fn kept_archives_stay_in_their_directory() {
        run_kept_inputs("archive", super::archive);
    }

    #[test]
    fn kept_policies_agree_with_the_reference_evaluator() {
        run_kept_inputs("permissions", super::permissions);
    }

    #[test]
    fn kept_paths_agree_with_the_model() {
        run_kept_inputs("paths", super::paths);
    }
}
