//! Writes the header of the guest's shim: constants, and a C struct for each block. An assertion in
//! the header checks the size of each struct.

use std::fmt::Write;

use coldframe_abi::system_calls::ClockCall;
use coldframe_abi::{EventHeader, Field, FieldKind, InfoBlock, StateBlock};

use super::{NOTICE, NUMBERS, upper};

/// Writes the header. The header has only the system calls of clocks, because the shim makes no
/// others.
pub fn header() -> String {
    let mut text = format!(
        "/* {NOTICE}\n   The numbers and blocks of docs/internals/guest-abi.md. */\n\
         #ifndef COLDFRAME_ABI_H\n#define COLDFRAME_ABI_H\n\
         #include <stdint.h>\n\n#define CF_ABI_VERSION {}\n\n",
        coldframe_abi::VERSION
    );
    for (prefix, rows) in NUMBERS {
        let rows: Vec<_> = rows.iter().map(|row| format!("{prefix}_{} = {}", upper(row.name), row.number)).collect();
        enumeration(&mut text, &rows);
    }
    let calls: Vec<_> =
        ClockCall::DECLARATIONS.iter().map(|call| format!("CF_SYS_{} = {:#x}", upper(call.name), call.number)).collect();
    enumeration(&mut text, &calls);
    block(&mut text, "CfInfo", InfoBlock::LEN, InfoBlock::FIELDS);
    block(&mut text, "CfState", StateBlock::LEN, StateBlock::FIELDS);
    block(&mut text, "CfEvent", EventHeader::LEN, EventHeader::FIELDS);
    text + "\n#endif\n"
}

/// Writes an enumeration in one line, or a long enumeration with each number in its own line.
fn enumeration(text: &mut String, rows: &[String]) {
    const WIDTH: usize = 130;
    let line = format!("enum {{ {} }};", rows.join(", "));
    let _ = if line.len() <= WIDTH {
        writeln!(text, "{line}")
    } else {
        writeln!(text, "enum {{\n    {},\n}};", rows.join(",\n    "))
    };
}

fn block(text: &mut String, name: &str, len: usize, fields: &[Field]) {
    let _ = writeln!(text, "\ntypedef struct {name} {{");
    for field in fields {
        let kind = match field.kind {
            FieldKind::U32 => "uint32_t",
            FieldKind::I32 => "int32_t",
            FieldKind::F64 => "double",
        };
        let _ = writeln!(text, "    {kind} {};", field.name);
    }
    let _ = writeln!(text, "}} {name};");
    let _ = writeln!(text, "_Static_assert(sizeof({name}) == {len}, \"the layout of {name} is the ABI\");");
}
