//! Writes the tables of `docs/internals/guest-abi.md`: blocks, named numbers, and the system calls
//! of each family. The doc comments of `crates/abi` are the last column of each table.

use std::fmt::Write;

use coldframe_abi::system_calls::{Argument, ArgumentKind, Declaration, FAMILIES, Family, Returns};
use coldframe_abi::{EventHeader, Field, FieldKind, InfoBlock, NumberRow, StateBlock};

use super::{SOURCE, snake, upper};
use crate::output::{GeneratedFile, Part};

/// Makes all parts of the page.
pub fn parts() -> Vec<GeneratedFile> {
    let part =
        |name, text| GeneratedFile { path: "docs/internals/guest-abi.md", part: Some(Part { source: SOURCE, name }), text };
    let mut parts = vec![
        part("info block", block(InfoBlock::FIELDS)),
        part("state block", block(StateBlock::FIELDS)),
        part("event header", block(EventHeader::FIELDS)),
        part("events", numbers(coldframe_abi::EventKind::ROWS)),
        part("evaluation flags", numbers(coldframe_abi::EvalFlag::ROWS)),
        part("modes", numbers(coldframe_abi::ProgramMode::ROWS)),
        part("exit reasons", numbers(coldframe_abi::ExitReason::ROWS)),
        part("exit codes", numbers(coldframe_abi::ExitCode::ROWS)),
        part("clock ids", numbers(coldframe_abi::Clock::ROWS)),
        part("marks", numbers(coldframe_abi::Mark::ROWS)),
        part("fatal kinds", numbers(coldframe_abi::FatalKind::ROWS)),
    ];
    parts.extend(FAMILIES.iter().map(|family| part(family.name, calls(family))));
    parts
}

fn block(fields: &[Field]) -> String {
    let mut text = "| offset | type | name | |\n|---|---|---|---|\n".to_owned();
    for field in fields {
        let kind = match field.kind {
            FieldKind::U32 => "u32",
            FieldKind::I32 => "i32",
            FieldKind::F64 => "f64",
        };
        let _ = writeln!(text, "| {} | {kind} | `{}` | {} |", field.offset, field.name, cell(field.docs));
    }
    text
}

fn numbers(rows: &[NumberRow]) -> String {
    let mut text = "| number | name | |\n|---|---|---|\n".to_owned();
    for row in rows {
        let _ = writeln!(text, "| {} | `{}` | {} |", row.number, upper(row.name), cell(row.docs));
    }
    text
}

fn calls(family: &Family) -> String {
    let mut text = "| number | call | returns | |\n|---|---|---|---|\n".to_owned();
    for call in family.declarations() {
        let _ = writeln!(text, "| {:#x} | `{}` | {} | {} |", call.number, signature(call), cell(&returns(call)), cell(call.docs));
    }
    text
}

fn signature(call: &Declaration) -> String {
    let arguments: Vec<_> = call.arguments.iter().map(argument).collect();
    format!("{}({})", snake(call.name), arguments.join(", "))
}

fn argument(Argument { name, kind }: &Argument) -> String {
    let kind = match kind {
        ArgumentKind::Integer => return (*name).to_owned(),
        ArgumentKind::Path => "path",
        ArgumentKind::Text => "text",
        ArgumentKind::Bytes => "bytes",
        ArgumentKind::Buffer => "buffer",
    };
    if *name == kind { kind.to_owned() } else { format!("{name}: {kind}") }
}

fn returns(call: &Declaration) -> String {
    let result = match call.returns {
        Returns::Zero => "0".to_owned(),
        Returns::Value(value) => value.to_owned(),
        Returns::Operation(outcome) => format!("an operation: {outcome}"),
    };
    if call.blocks { format!("{result} (`sys_wait`)") } else { result }
}

/// Returns `docs` as the content of a table's cell.
fn cell(docs: &str) -> String {
    docs.trim().replace('|', "\\|")
}
