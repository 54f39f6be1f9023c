//! Builds the guest image: `coldframe-imager --wasm guest.wasm --inputs DIR --out DIR`.
//!
//! It compiles the guest's module, runs the guest's initialisation (`boot.rs`), and writes two files: `guest.image`, the linear memory
//! as it is then, and the precompiled module without its data segments (`rewrite.rs`), which are in the image already. This
//! is the only program with a compiler in it.

mod boot;
mod rewrite;

use coldframe_core::{HEADER_LEN, Header, engine_config};
use displaydoc::Display;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wasmtime::{Config, Engine};

const USAGE: &str = "usage: coldframe-imager --wasm FILE --inputs DIR --out DIR

  --wasm FILE    the guest's module
  --inputs DIR   what the guest may read while it is initialised
  --out DIR      where guest.image and guest-HASH.cwasm are written
";

/// Why there is no image. The doc comment is the message.
#[derive(Debug, Display, thiserror::Error)]
pub(crate) enum Failure {
    /// {0}
    Usage(String),
    /// {path}: {reason}
    File {
        /// Which one.
        path: String,
        /// What happened.
        reason: String,
    },
    /// the guest's module: {0}
    Module(String),
    /// the guest's initialisation failed: {0}
    Boot(String),
}

fn main() -> ExitCode {
    match Arguments::parse().and_then(|arguments| arguments.map_or(Ok(()), |arguments| build(&arguments))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure @ Failure::Usage(_)) => {
            eprintln!("coldframe-imager: {failure}\n\n{USAGE}");
            ExitCode::from(2)
        }
        Err(failure) => {
            eprintln!("coldframe-imager: {failure}");
            ExitCode::FAILURE
        }
    }
}

struct Arguments {
    wasm: PathBuf,
    inputs: PathBuf,
    out: PathBuf,
}

impl Arguments {
    /// `None` when only help was asked for.
    fn parse() -> Result<Option<Self>, Failure> {
        use lexopt::Arg::Long;
        let wrong = |error: lexopt::Error| Failure::Usage(error.to_string());
        let (mut wasm, mut inputs, mut out): (Option<OsString>, Option<OsString>, Option<OsString>) = (None, None, None);
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next().map_err(wrong)? {
            match argument {
                Long("help") => {
                    println!("{USAGE}");
                    return Ok(None);
                }
                Long("wasm") => wasm = Some(parser.value().map_err(wrong)?),
                Long("inputs") => inputs = Some(parser.value().map_err(wrong)?),
                Long("out") => out = Some(parser.value().map_err(wrong)?),
                other => return Err(wrong(other.unexpected())),
            }
        }
        let needed = |value: Option<OsString>, name: &str| value.map(PathBuf::from).ok_or_else(|| Failure::Usage(format!("{name} is missing")));
        Ok(Some(Self { wasm: needed(wasm, "--wasm")?, inputs: needed(inputs, "--inputs")?, out: needed(out, "--out")? }))
    }
}

fn build(arguments: &Arguments) -> Result<(), Failure> {
    let module = |error: wasmtime::Error| Failure::Module(format!("{error:#}"));
    let wasm = std::fs::read(&arguments.wasm).map_err(|error| file(&arguments.wasm, &error))?;
    let initial = boot::run(&engine(&mut engine_config()).map_err(module)?, &wasm, &arguments.inputs)?;

    let pages = initial.memory.len() as u64 / rewrite::WASM_PAGE;
    let stripped = rewrite::without_data(&wasm, pages).map_err(Failure::Module)?;
    let code = engine(&mut engine_config()).and_then(|engine| engine.precompile_module(&stripped)).map_err(module)?;
    let hash: [u8; 32] = Sha256::digest(&initial.memory).into();
    let code_hash: String = Sha256::digest(&code)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let header = Header {
        memory_len: initial.memory.len() as u64,
        state_ptr: initial.info.state_ptr,
        inbox_ptr: initial.info.inbox_ptr,
        inbox_len: initial.info.inbox_len,
        frozen_end: initial.info.frozen_end,
        hash,
        module_file: format!("guest-{code_hash}.cwasm"),
    };
    std::fs::create_dir_all(&arguments.out).map_err(|error| file(&arguments.out, &error))?;
    replace(&arguments.out.join(&header.module_file), &[&code])?;
    replace(&arguments.out.join("guest.image"), &[&header.encode().map_err(Failure::Module)?, &initial.memory])?;
    remove_old_modules(&arguments.out, &header.module_file)?;
    let used = initial.memory.chunks(HEADER_LEN).filter(|page| page.iter().any(|byte| *byte != 0)).count() * HEADER_LEN;
    println!(
        "guest.image {:.1} MiB ({:.1} MiB not zero), {} {:.1} MiB",
        mib(initial.memory.len()),
        mib(used),
        header.module_file,
        mib(code.len())
    );
    Ok(())
}

/// The engine that everything is compiled for: a processor that any server of the last ten years has (x86-64-v2).
fn engine(config: &mut Config) -> wasmtime::Result<Engine> {
    #[cfg(target_arch = "x86_64")]
    {
        config.target("x86_64-unknown-linux-gnu")?;
        for feature in ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"] {
            // SAFETY: the flags say what the processor has; a host without them refuses to load the module.
            unsafe { config.cranelift_flag_enable(feature) };
        }
    }
    config.cranelift_opt_level(wasmtime::OptLevel::Speed);
    Engine::new(config)
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn file(path: &Path, error: &std::io::Error) -> Failure {
    Failure::File { path: path.display().to_string(), reason: error.to_string() }
}

/// Writes beside and renames: a process that has the old file mapped keeps it.
fn replace(path: &Path, parts: &[&[u8]]) -> Result<(), Failure> {
    let beside = path.with_extension("new");
    let write = || {
        let mut file = std::fs::File::create(&beside)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        std::fs::rename(&beside, path)
    };
    write().map_err(|error| file(path, &error))
}

fn remove_old_modules(folder: &Path, current: &str) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder).map_err(|error| file(folder, &error))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("guest-") && name.ends_with(".cwasm") && name != current {
            std::fs::remove_file(entry.path()).map_err(|error| file(&entry.path(), &error))?;
        }
    }
    Ok(())
}
