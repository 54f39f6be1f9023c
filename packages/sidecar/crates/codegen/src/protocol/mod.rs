//! The protocol for the SDK and for its page, from the structs in `crates/protocol/src/messages`.
//!
//! [`source`] parses the Rust files into a [`source::Protocol`]. [`typescript`] writes types,
//! decoders and the table of requests. [`page`] writes the tables of `docs/internals/protocol.md`.

mod page;
mod source;
mod typescript;

use std::path::Path;

use crate::output::GeneratedFile;

/// Makes the files of the protocol.
pub fn files(folder: &Path) -> Result<Vec<GeneratedFile>, String> {
    let protocol = source::read(folder)?;
    let folder = |path, text| GeneratedFile { path, text };
    Ok(vec![
        folder("packages/sdk/src/protocol/generated/messages.ts", typescript::messages(&protocol)),
        folder("packages/sdk/src/protocol/generated/decoders.ts", typescript::decoders(&protocol)),
        folder("packages/sdk/src/protocol/generated/tables.ts", typescript::tables(&protocol)),
        folder("docs/internals/protocol.md", page::tables(&protocol)),
    ])
}
