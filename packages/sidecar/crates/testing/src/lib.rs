//! Helpers of the workspace's tests. Other crates use this crate as a dev-dependency only.
//!
//! Repeated tests have two forms: a short form in `pnpm test`, and a long form in `pnpm test:long`.

/// Returns `long` in `pnpm test:long`, which sets `COLDFRAME_TESTS` to `long`, and otherwise
/// `short`.
pub fn repetitions(short: u32, long: u32) -> u32 {
    if std::env::var_os("COLDFRAME_TESTS").is_some_and(|form| form == "long") { long } else { short }
}
