//! The place of a panic, without the paths of the machine that compiled the code. Next: `lock.rs`.

use std::panic::Location;

/// Returns the place as a file and a line, such as `crates/kernel/src/kernel.rs:20`.
pub(crate) fn place(location: &Location<'_>) -> String {
    format!("{}:{}", file(location.file()), location.line())
}

/// Shortens the path of a source file: to the path in the workspace, in the package, or in Rust's
/// library.
fn file(path: &str) -> &str {
    if path.starts_with("crates/") {
        return path;
    }
    for folder in ["/registry/src/", "/rustc/"] {
        // The next component is the registry's index, or the commit of the compiler.
        let below = path.split_once(folder).and_then(|(_, below)| below.split_once('/'));
        if let Some((_, below)) = below {
            return below;
        }
    }
    match path.find("/crates/") {
        Some(at) => &path[at + 1..],
        None => path.rsplit('/').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_no_folder_of_the_machine() {
        assert_eq!(place(Location::caller()), format!("crates/panics/src/place.rs:{}", line!()));
        for (path, short) in [
            ("/home/user/coldframe/packages/sidecar/crates/kernel/src/kernel.rs", "crates/kernel/src/kernel.rs"),
            ("/home/user/.cargo/registry/src/index-1/wasmtime-48.0.8/src/runtime/vm.rs", "wasmtime-48.0.8/src/runtime/vm.rs"),
            ("/rustc/abc/library/core/src/option.rs", "library/core/src/option.rs"),
            ("/home/user/other/src/lib.rs", "lib.rs"),
            ("", ""),
        ] {
            assert_eq!(file(path), short);
        }
    }
}
