//! The protocol for the SDK and for its page, from the structs in `crates/protocol/src/messages`.
//!
//! [`source`] parses the Rust files into a [`source::Protocol`]. [`typescript`] writes types,
//! decoders and the table of requests. [`page`] writes the tables of `docs/internals/protocol.md`.

mod page;
mod source;
mod typescript;

use std::path::Path;

use crate::output::{GeneratedFile, Part};

const MESSAGES: Part = Part { source: "packages/sidecar/crates/protocol", name: "messages" };

/// Makes the generated files of the protocol. `crates` is the folder of the workspace's crates.
/// Fails if a declaration cannot be parsed.
pub fn files(crates: &Path) -> Result<Vec<GeneratedFile>, String> {
    let protocol = source::read(&crates.join("protocol/src/messages"), &crates.join("ids/src/lib.rs"))?;
    let file = |path, text| GeneratedFile { path, part: None, text };
    Ok(vec![
        file("packages/sdk/src/protocol/generated/messages.ts", typescript::messages(&protocol)),
        file("packages/sdk/src/protocol/generated/decoders.ts", typescript::decoders(&protocol)),
        file("packages/sdk/src/protocol/generated/tables.ts", typescript::tables(&protocol)),
        GeneratedFile { path: "docs/internals/protocol.md", part: Some(MESSAGES), text: page::tables(&protocol) },
    ])
}
