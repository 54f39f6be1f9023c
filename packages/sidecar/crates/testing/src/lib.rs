//! Helpers of the workspace's tests. A crate names this crate as a dev-dependency only.
//!
//! Tests that repeat have two forms: a short one in `pnpm test`, a long one in `pnpm test:long`.

/// Returns `long` in `pnpm test:long`, which sets `COLDFRAME_TESTS` to `long`, else `short`.
pub fn repetitions(short: u32, long: u32) -> u32 {
    if std::env::var_os("COLDFRAME_TESTS").is_some_and(|form| form == "long") { long } else { short }
}
