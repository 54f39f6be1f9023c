//! Replaces bulk-memory instructions by calls of the guest's own functions.
//!
//! wasmtime executes `memory.copy` and `memory.fill` with functions outside the guest's code. The
//! core stops a guest by removing its memory. A fault in such a function would crash the sidecar
//! instead of trapping the guest (`packages/runner/engine/shim/memory.c`). Our C code is compiled
//! without these instructions, but the toolchain's libc contains some of them. Other bulk
//! instructions stay in the module, and `check.rs` refuses them.

use std::borrow::Cow;

use wasm_encoder::{CodeSection, Encode, Instruction, Module};
use wasmparser::{BinaryReader, CodeSectionReader, FunctionBody, KnownCustom, Name, Operator, Parser, Payload};

use crate::Failure;

/// Indices of the functions that replace bulk-memory instructions.
#[derive(Default)]
struct Callees {
    /// Replaces `memory.copy`.
    memmove: Option<u32>,
    /// Replaces `memory.fill`.
    memset: Option<u32>,
}

/// Returns the module without `memory.copy`, `memory.fill` and custom sections. Fails if the module
/// has such an instruction and no function to replace it.
///
/// The linker's name section names the functions `memmove` and `memset`. Each function accepts the
/// operands of the instruction that it replaces. The function's result is dropped.
pub(crate) fn lower_bulk_memory(wasm: &[u8]) -> Result<Vec<u8>, Failure> {
    let callees = find_callees(wasm)?;
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::CustomSection(_) => {}
            Payload::CodeSectionStart { range, .. } => {
                let section = BinaryReader::new(super::content(wasm, range.clone())?, range.start);
                module.section(&lower_code(section, &callees)?);
            }
            payload => {
                if let Some(section) = super::section(wasm, &payload)? {
                    module.section(&section);
                }
            }
        }
    }
    Ok(module.finish())
}

/// Finds the functions `memmove` and `memset` in the name section.
fn find_callees(wasm: &[u8]) -> Result<Callees, Failure> {
    let mut callees = Callees::default();
    for payload in Parser::new(0).parse_all(wasm) {
        let Payload::CustomSection(custom) = payload? else { continue };
        let KnownCustom::Name(names) = custom.as_known() else { continue };
        for name in names {
            let Name::Function(functions) = name? else { continue };
            for function in functions {
                let function = function?;
                match function.name {
                    "memmove" => callees.memmove = Some(function.index),
                    "memset" => callees.memset = Some(function.index),
                    _ => {}
                }
            }
        }
    }
    Ok(callees)
}

fn lower_code(section: BinaryReader<'_>, callees: &Callees) -> Result<CodeSection, Failure> {
    let mut code = CodeSection::new();
    for body in CodeSectionReader::new(section)? {
        code.raw(&lower_body(&body?, callees)?);
    }
    Ok(code)
}

/// Returns the bytes of `body` with calls in place of `memory.copy` and `memory.fill`.
fn lower_body<'a>(body: &FunctionBody<'a>, callees: &Callees) -> Result<Cow<'a, [u8]>, Failure> {
    let (bytes, start) = (body.as_bytes(), body.range().start);
    let mut lowered = Vec::new();
    // The end of the part of `bytes` that `lowered` already has.
    let mut copied = 0;
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        let (operator, offset) = operators.read_with_offset()?;
        let (instruction, name, callee) = match operator {
            Operator::MemoryCopy { .. } => ("memory.copy", "memmove", callees.memmove),
            Operator::MemoryFill { .. } => ("memory.fill", "memset", callees.memset),
            _ => continue,
        };
        let callee = callee.ok_or_else(|| {
            Failure::Module(format!("it contains {instruction}, and no function named {name} can replace that instruction"))
        })?;
        lowered.extend_from_slice(&bytes[copied..offset - start]);
        Instruction::Call(callee).encode(&mut lowered);
        Instruction::Drop.encode(&mut lowered);
        copied = operators.original_position() - start;
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(bytes));
    }
    lowered.extend_from_slice(&bytes[copied..]);
    Ok(Cow::Owned(lowered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::{check, parse};

    /// A module with the callees and a function with `body`.
    fn module(body: &str) -> Vec<u8> {
        parse(&format!(
            r#"(module
                 (import "coldframe" "poll" (func $poll (result i32)))
                 (memory 1)
                 (func $memset (param i32 i32 i32) (result i32) (local.get 0))
                 (func $memmove (param i32 i32 i32) (result i32) (local.get 0))
                 (func $run (local i64) (drop (call $poll)) {body} (drop (i32.const 7))))"#
        ))
    }

    const OPERANDS: &str = "(i32.const 8) (i32.const 1) (i32.const 2)";

    fn lowered(body: &str) -> Vec<u8> {
        lower_bulk_memory(&module(body)).unwrap_or_default()
    }

    #[test]
    fn replaces_memory_copy_and_memory_fill_by_calls() {
        for (instruction, callee) in [("memory.fill", "$memset"), ("memory.copy", "$memmove")] {
            let bulk = format!("({instruction} {OPERANDS})");
            let call = format!("(drop (call {callee} {OPERANDS}))");
            assert!(check(&module(&bulk), false).is_err(), "{instruction}");
            assert_eq!(lowered(&bulk), lowered(&call), "{instruction}");
            assert_eq!(lowered(&format!("{bulk}{call}{bulk}")), lowered(&call.repeat(3)), "{instruction}");
            check(&lowered(&bulk), false).unwrap_or_else(|failure| panic!("{instruction}: {failure}"));
        }
    }

    #[test]
    fn copies_other_functions_and_drops_custom_sections() {
        // The bytes of this constant contain the bytes of `memory.fill`.
        let wasm = module("(drop (i32.const 0x2dffc))");
        let lowered = lower_bulk_memory(&wasm).unwrap_or_default();
        assert!(wasm.starts_with(&lowered), "the name section is the last one");
        assert!(lowered.len() < wasm.len());
    }

    #[test]
    fn keeps_other_bulk_instructions() {
        let wasm = parse("(module (memory 1) (data \"x\") (func (data.drop 0)))");
        assert_eq!(lower_bulk_memory(&wasm).unwrap_or_default(), wasm);
    }

    #[test]
    fn refuses_a_module_without_a_callee() {
        let wasm = parse(&format!("(module (memory 1) (func $memmove) (func (memory.fill {OPERANDS})))"));
        let failure = lower_bulk_memory(&wasm).map_err(|failure| failure.to_string());
        let expected =
            "the guest's module: it contains memory.fill, and no function named memset can replace that instruction".to_owned();
        assert_eq!(failure, Err(expected));
    }

    #[test]
    fn refuses_a_truncated_module() {
        let wasm = module("");
        for end in 0..wasm.len() - 1 {
            // The prefix is another module if it ends after a section.
            let _ = lower_bulk_memory(&wasm[..end]);
        }
        assert!(lower_bulk_memory(&wasm[..wasm.len() - 1]).is_err());
        assert!(lower_bulk_memory(b"no wasm here").is_err());
    }
}
