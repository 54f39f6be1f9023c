//! Writes constants for JavaScript: the guest's bootstrap, and the dev host
//! (`packages/runner/build/dev-host.mjs`), which runs a guest without a sidecar.

use std::fmt::Write;

use coldframe_abi::system_calls::FAMILIES;
use coldframe_abi::{Clock, EventKind, Field, FieldKind, InfoBlock, NumberRow, ProgramMode, StateBlock};

use super::{NOTICE, camel};

/// Writes the numbers of all system calls by family and the bound of a transfer, as a module of the
/// bootstrap.
pub fn system_calls() -> String {
    let mut text = format!(
        "// {NOTICE}\n// The numbers of the system calls by family (docs/internals/guest-abi.md).\n\
         'use strict';\n\nmodule.exports = {{\n"
    );
    for family in FAMILIES {
        let _ = writeln!(text, "  {}: {{", family.name);
        for call in family.declarations() {
            let _ = writeln!(text, "    {}: {:#x},", camel(call.name), call.number);
        }
        text += "  },\n";
    }
    let _ = writeln!(text, "  // The largest number of bytes that one read, write or copy of a file transfers.");
    let _ = writeln!(text, "  MAX_TRANSFER: {},", coldframe_abi::MAX_TRANSFER);
    text + "};\n"
}

/// Writes the numbers that the dev host needs.
pub fn host_constants() -> String {
    let mut text =
        format!("// {NOTICE}\n// The numbers of events, modes and blocks for the dev host (docs/internals/guest-abi.md).\n");
    numbers(&mut text, "EVENT", EventKind::ROWS);
    numbers(&mut text, "MODE", ProgramMode::ROWS);
    numbers(&mut text, "CLOCK", Clock::ROWS);
    block(&mut text, "INFO_BLOCK", InfoBlock::LEN, InfoBlock::FIELDS);
    block(&mut text, "STATE_BLOCK", StateBlock::LEN, StateBlock::FIELDS);
    text
}

fn numbers(text: &mut String, name: &str, rows: &[NumberRow]) {
    let rows: Vec<_> = rows.iter().map(|row| format!("{}: {}", camel(row.name), row.number)).collect();
    let _ = writeln!(text, "\nexport const {name} = {{ {} }};", rows.join(", "));
}

fn block(text: &mut String, name: &str, len: usize, fields: &[Field]) {
    let _ = writeln!(text, "\nexport const {name} = {{\n  length: {len},\n  fields: {{");
    for field in fields {
        let kind = match field.kind {
            FieldKind::U32 => "u32",
            FieldKind::I32 => "i32",
            FieldKind::F64 => "f64",
        };
        let _ = writeln!(text, "    {}: {{ offset: {}, kind: '{kind}' }},", camel(field.name), field.offset);
    }
    text.push_str("  },\n};\n");
}
