//! Helpers of the workspace's tests. Other crates use this crate as a dev-dependency only.
//!
//! Repeated tests have two forms: a short form in `pnpm test`, and a long form in `pnpm test:long`.
//! The fuzz targets of the crates have kept inputs, which every test run repeats. `model.rs` has
//! the types of models of concurrent code.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper of tests panics if it fails")]

pub mod model;

use std::path::{Path, PathBuf};

/// Returns `long` in `pnpm test:long`, which sets `COLDFRAME_TESTS` to `long`, and otherwise
/// `short`.
pub fn repetitions(short: u32, long: u32) -> u32 {
    if std::env::var_os("COLDFRAME_TESTS").is_some_and(|form| form == "long") { long } else { short }
}

/// Calls a fuzz target with the content of every file below `crates/fuzz/corpus/NAME`. Prints the
/// path of a file before the call, so that the output of a failed test ends with the failed input.
///
/// # Panics
/// Panics if there is no such file.
pub fn run_kept_inputs(name: &str, target: impl Fn(&[u8])) {
    run_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name), target);
}

/// Calls a fuzz target with the content of every file of a folder, in the order of the names.
///
/// # Panics
/// Panics if the folder has no file.
pub fn run_files(folder: &Path, target: impl Fn(&[u8])) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no inputs in {}", folder.display());
    for path in paths {
        println!("{}", path.display());
        target(&std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    }
}
