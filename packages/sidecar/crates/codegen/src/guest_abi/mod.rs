//! The guest ABI for JavaScript, C and the page, from the tables of `crates/abi`.
//!
//! [`javascript`] writes constants for the bootstrap and for the dev host. [`header`] writes the
//! shim's header. [`page`] writes the tables of `docs/internals/guest-abi.md`.

mod header;
mod javascript;
mod page;

use coldframe_abi::NumberRow;

use crate::output::GeneratedFile;

/// The folder with the declarations of the guest ABI.
const SOURCE: &str = "packages/sidecar/crates/abi";

/// The first line of a generated file, without the marks of a comment.
const NOTICE: &str = "Generated from packages/sidecar/crates/abi by `pnpm generate`. Do not edit.";

/// Makes the generated files and page parts of the guest ABI.
pub fn files() -> Vec<GeneratedFile> {
    let file = |path, text| GeneratedFile { path, part: None, text };
    let mut files = vec![
        file("packages/runner/bootstrap/generated/system-calls.js", javascript::system_calls()),
        file("packages/runner/build/generated/abi.mjs", javascript::host_constants()),
        file("packages/runner/engine/shim/abi.h", header::header()),
    ];
    files.extend(page::parts());
    files
}

/// Returns `name` as words in lower case: `CopyFile` is `copy`, `file`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}

/// Converts `CopyFile` to `copy_file`.
fn snake(name: &str) -> String {
    words(name).join("_")
}

/// Converts `CopyFile` and `copy_file` to `copyFile`.
fn camel(name: &str) -> String {
    let snake = snake(name);
    let mut parts = snake.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (head, tail) = part.split_at(part.len().min(1));
        text + &head.to_ascii_uppercase() + tail
    })
}

/// Converts `UserCode` to `USER_CODE`.
fn upper(name: &str) -> String {
    snake(name).to_ascii_uppercase()
}

/// The named numbers of the shim's header, each with its prefix in C.
const NUMBERS: &[(&str, &[NumberRow])] = &[
    ("CF_EVENT", coldframe_abi::EventKind::ROWS),
    ("CF_EVAL", coldframe_abi::EvalFlag::ROWS),
    ("CF_MODE", coldframe_abi::ProgramMode::ROWS),
    ("CF_STATUS", coldframe_abi::GuestStatus::ROWS),
    ("CF_REASON", coldframe_abi::ExitReason::ROWS),
    ("CF_EXIT", coldframe_abi::ExitCode::ROWS),
    ("CF_CLOCK", coldframe_abi::Clock::ROWS),
    ("CF_MARK", coldframe_abi::Mark::ROWS),
    ("CF_FATAL", coldframe_abi::FatalKind::ROWS),
];

#[cfg(test)]
mod tests {
    use super::{camel, snake, upper};

    #[test]
    fn converts_names() {
        assert_eq!((snake("CopyFile"), camel("CopyFile")), ("copy_file".to_owned(), "copyFile".to_owned()));
        assert_eq!((camel("exit_code"), upper("UserCode")), ("exitCode".to_owned(), "USER_CODE".to_owned()));
    }
}
