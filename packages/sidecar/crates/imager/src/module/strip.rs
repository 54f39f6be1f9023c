//! Removes the parts of a module that the image already has.
//!
//! The image has the content of the data segments, after the guest's initialisation. The stripped
//! module has no data segments and no names. The size of its memory is the linker's, so that all
//! images of a guest have one module. An image is at least as long, and the sidecar maps the image
//! in place of the module's memory.

use wasm_encoder::{MemorySection, MemoryType, Module};
use wasmparser::{Parser, Payload};

use crate::Failure;

/// The largest memory that the guest ABI allows, in pages: 2 GiB.
const MAX_PAGES: u64 = 32_768;

/// Returns the module without data segments and custom sections. Its memory may grow to the largest
/// size of the guest ABI.
pub(crate) fn strip(wasm: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::CustomSection(_) | Payload::DataSection(_) | Payload::DataCountSection { .. } => {}
            Payload::MemorySection(memories) => {
                let memory = memories.into_iter().next().transpose()?;
                module.section(&memory_of(memory.map_or(0, |memory| memory.initial)));
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

fn memory_of(pages: u64) -> MemorySection {
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: pages,
        maximum: Some(MAX_PAGES),
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    memories
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::parse;

    const FUNCTIONS: &str = r#"(func $run (export "run") (result i32) (i32.load (i32.const 8)))"#;

    #[test]
    fn drops_data_and_names_and_sets_the_largest_memory() {
        let wasm = parse(&format!(r#"(module (memory (export "memory") 2) {FUNCTIONS} (data (i32.const 8) "data") (data "x"))"#));
        let anonymous = FUNCTIONS.replace("$run", "");
        let expected = parse(&format!(r#"(module (memory (export "memory") 2 {MAX_PAGES}) {anonymous})"#));
        assert_eq!(strip(&wasm).unwrap_or_default(), expected);
    }

    #[test]
    fn refuses_bytes_that_are_not_a_module() {
        assert!(strip(b"no wasm here").is_err());
        let wasm = parse(&format!("(module {FUNCTIONS} (memory 1))"));
        assert!(strip(&wasm[..wasm.len() - 1]).is_err());
    }
}
