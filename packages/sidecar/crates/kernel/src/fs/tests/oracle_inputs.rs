//! The names, link targets and flags that the random operations of `oracle.rs` use. Next:
//! `random.rs`.

/// A small set of names, so that operations often use the files of earlier operations.
pub(super) const NAMES: &[&str] =
    &["a", "b", "c", "d/", "a/b", "a/c", "a/b/c", "b/a", "b/a/", "./a", "a/..", "a/../b", "a/.", "c/d", "c/d/e", "..", "."];
/// Targets of symbolic links.
pub(super) const TARGETS: &[&str] = &["a", "b", "c", "../a", "../b/a", "a/b", ".", "..", "nothing", "c/", "d"];
/// Flags of `open`.
pub(super) const FLAGS: &[i32] = &[
    libc::O_RDONLY,
    libc::O_WRONLY,
    libc::O_RDWR,
    libc::O_RDWR | libc::O_CREAT,
    libc::O_RDWR | libc::O_CREAT | libc::O_EXCL,
    libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
    libc::O_RDWR | libc::O_CREAT | libc::O_APPEND,
    libc::O_RDONLY | libc::O_NOFOLLOW,
    libc::O_RDONLY | libc::O_DIRECTORY,
    libc::O_RDONLY | libc::O_TRUNC,
    libc::O_RDONLY | libc::O_CREAT | libc::O_DIRECTORY,
];
