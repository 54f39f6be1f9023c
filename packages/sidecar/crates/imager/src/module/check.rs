//! Refuses a module that breaks the guest ABI (`docs/internals/guest-abi.md`).
//!
//! A VM snapshot has no state of the guest besides the linear memory
//! (`docs/internals/snapshots.md`). A module must therefore have no state outside its memory that
//! survives a turn. The only allowed mutable global is the stack pointer, which has its initial
//! value after each turn. The table of functions never changes. The check also refuses bulk-memory
//! instructions (`lower.rs`) and imports from any module but `coldframe`. A guest such as CPython
//! may also import WASI preview 1.

use wasmparser::{
    FunctionBody, GlobalSectionReader, ImportSectionReader, Operator, Parser, Payload, TypeRef, Validator, WasmFeatures,
};

use crate::Failure;

/// The module name of all imports of the ABI.
const ABI_MODULE: &str = "coldframe";
/// The module name of the imports of WASI preview 1.
const WASI_MODULE: &str = "wasi_snapshot_preview1";
/// The maximum number of problems that the failure names.
const REPORTED_PROBLEMS: usize = 20;

/// Fails with a list of the problems if `wasm` breaks the guest ABI. `wasi` allows imports of WASI.
pub(crate) fn check(wasm: &[u8], wasi: bool) -> Result<(), Failure> {
    // WebAssembly 2.0 has one memory, no threads, no exceptions and no garbage-collected objects.
    // Each of these features would add state outside the linear memory.
    Validator::new_with_features(WasmFeatures::WASM2).validate_all(wasm)?;
    let mut problems = Vec::new();
    let mut bodies = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => check_imports(imports, wasi, &mut problems)?,
            Payload::GlobalSection(globals) => check_globals(globals, &mut problems)?,
            Payload::StartSection { .. } => {
                problems.push("it has a start function, which would run at every start".to_owned());
            }
            Payload::CodeSectionEntry(body) => {
                check_body(bodies, &body, &mut problems)?;
                bodies += 1;
            }
            _ => {}
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    problems.truncate(REPORTED_PROBLEMS);
    Err(Failure::Module(format!("it breaks the guest ABI:\n  {}", problems.join("\n  "))))
}

fn check_imports(imports: ImportSectionReader<'_>, wasi: bool, problems: &mut Vec<String>) -> Result<(), Failure> {
    for import in imports.into_imports() {
        let import = import?;
        if !matches!(import.ty, TypeRef::Func(_)) {
            problems.push(format!("import {}.{} is not a function", import.module, import.name));
        }
        if import.module != ABI_MODULE && !(wasi && import.module == WASI_MODULE) {
            problems.push(format!("import {}.{} is not in the ABI", import.module, import.name));
        }
    }
    Ok(())
}

fn check_globals(globals: GlobalSectionReader<'_>, problems: &mut Vec<String>) -> Result<(), Failure> {
    let mut mutable = 0;
    for (index, global) in globals.into_iter().enumerate() {
        let global = global?;
        mutable += u32::from(global.ty.mutable);
        let mut operators = global.init_expr.get_operators_reader();
        if !matches!(operators.read()?, Operator::I32Const { .. }) || !operators.is_end_then_eof() {
            problems.push(format!("global {index} does not start as an i32 constant"));
        }
    }
    if mutable > 1 {
        problems.push(format!("{mutable} globals are mutable, but only the stack pointer may be"));
    }
    Ok(())
}

fn check_body(index: u32, body: &FunctionBody<'_>, problems: &mut Vec<String>) -> Result<(), Failure> {
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        if let Some(name) = forbidden(&operators.read()?) {
            problems.push(format!("function body {index} contains {name}"));
        }
    }
    Ok(())
}

/// Returns the name of `operator` if it is a bulk instruction or changes a table.
fn forbidden(operator: &Operator<'_>) -> Option<&'static str> {
    Some(match operator {
        Operator::MemoryInit { .. } => "memory.init",
        Operator::DataDrop { .. } => "data.drop",
        Operator::MemoryCopy { .. } => "memory.copy",
        Operator::MemoryFill { .. } => "memory.fill",
        Operator::TableInit { .. } => "table.init",
        Operator::ElemDrop { .. } => "elem.drop",
        Operator::TableCopy { .. } => "table.copy",
        Operator::TableSet { .. } => "table.set",
        Operator::TableGrow { .. } => "table.grow",
        Operator::TableFill { .. } => "table.fill",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::parse;

    /// Returns the problems of the module with these fields.
    fn problems(fields: &str) -> Vec<String> {
        let failure = check(&parse(&format!("(module {fields})")), false).err().map(|failure| failure.to_string());
        let problems = failure.map(|text| text.lines().skip(1).map(|line| line.trim().to_owned()).collect());
        problems.unwrap_or_default()
    }

    #[test]
    fn accepts_a_module_that_follows_the_abi() {
        let fields = r#"
            (import "coldframe" "poll" (func $poll (result i32)))
            (table 2 funcref)
            (memory (export "memory") 4 32768)
            (global $stack (mut i32) (i32.const 65536))
            (global i32 (i32.const 1))
            (elem (i32.const 1) func $poll)
            (data (i32.const 8) "text")
            (func (export "cf_turn") (param i32 i32) (result i32)
              (drop (i32.const 0x2dffc)) (drop (i32x4.splat (i32.const 1))) (call_indirect (result i32) (i32.const 1)))"#;
        assert_eq!(problems(fields), Vec::<String>::new());
        assert!(check(&parse(&format!("(module {fields})")), false).is_ok());
    }

    #[test]
    fn refuses_imports_outside_the_abi() {
        let expected = ["import env.f is not in the ABI"];
        assert_eq!(problems(r#"(import "env" "f" (func))"#), expected);
        let wasi = r#"(import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))"#;
        assert_eq!(problems(wasi), ["import wasi_snapshot_preview1.sched_yield is not in the ABI"]);
        assert!(check(&parse(&format!("(module {wasi})")), true).is_ok());
        let expected = ["import coldframe.t is not a function"];
        assert_eq!(problems(r#"(import "coldframe" "t" (table 1 funcref))"#), expected);
        let expected = ["import env.g is not a function", "import env.g is not in the ABI"];
        assert_eq!(problems(r#"(import "env" "g" (global i32))"#), expected);
    }

    #[test]
    fn refuses_globals_that_are_state_of_the_guest() {
        let expected = ["2 globals are mutable, but only the stack pointer may be"];
        assert_eq!(problems("(global (mut i32) (i32.const 1)) (global (mut i32) (i32.const 2))"), expected);
        let expected = ["global 1 does not start as an i32 constant"];
        assert_eq!(problems("(global i32 (i32.const 1)) (global (mut i64) (i64.const 2))"), expected);
    }

    #[test]
    fn refuses_a_start_function() {
        assert_eq!(problems("(func $run) (start $run)"), ["it has a start function, which would run at every start"]);
    }

    #[test]
    fn refuses_bulk_instructions_and_instructions_that_change_a_table() {
        let three = "(i32.const 0) (i32.const 0) (i32.const 0)";
        let one_reference = "(ref.null func) (i32.const 1)";
        for (name, instruction) in [
            ("memory.init", format!("(memory.init 0 {three})")),
            ("data.drop", "(data.drop 0)".to_owned()),
            ("memory.copy", format!("(memory.copy {three})")),
            ("memory.fill", format!("(memory.fill {three})")),
            ("table.init", format!("(table.init 0 {three})")),
            ("elem.drop", "(elem.drop 0)".to_owned()),
            ("table.copy", format!("(table.copy {three})")),
            ("table.set", "(table.set (i32.const 0) (ref.null func))".to_owned()),
            ("table.grow", format!("(drop (table.grow {one_reference}))")),
            ("table.fill", "(table.fill (i32.const 0) (ref.null func) (i32.const 1))".to_owned()),
        ] {
            let fields = format!("(memory 1) (table 1 funcref) (data \"x\") (elem func) (func) (func {instruction})");
            assert_eq!(problems(&fields), [format!("function body 1 contains {name}")], "{name}");
        }
    }

    #[test]
    fn refuses_proposals_beyond_webassembly_2() {
        for fields in [
            "(memory 1) (memory 1)",
            "(memory 1 1 shared)",
            "(memory i64 1)",
            "(tag)",
            "(type (struct))",
            "(func $again (return_call $again))",
            "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))",
            "(func (param v128) (drop (i8x16.relaxed_swizzle (local.get 0) (local.get 0))))",
        ] {
            assert!(check(&parse(&format!("(module {fields})")), false).is_err(), "{fields}");
        }
    }

    #[test]
    fn names_twenty_problems_at_most() {
        assert_eq!(problems(&r#"(import "env" "f" (func))"#.repeat(30)).len(), REPORTED_PROBLEMS);
    }

    #[test]
    fn refuses_bytes_that_are_not_a_module() {
        assert!(check(b"no wasm here", false).is_err());
        let wasm = parse("(module (func))");
        assert!(check(&wasm[..wasm.len() - 1], false).is_err());
    }
}
