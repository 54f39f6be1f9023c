//! Builds an image from the guest's module: the image for `node`, or the image that also has the
//! shell.
//!
//! `module` lowers and checks the linked module, and `boot.rs` runs the guest's initialisation.
//! [`build`] then writes two files. `NAME.image` is the linear memory after the initialisation.
//! `guest-HASH.cwasm` is the precompiled module without its data segments, because the image
//! already has their bytes. All images of a guest name one module. This is the only crate with a
//! compiler. `main.rs` is the command line of this crate.

mod boot;
mod module;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use coldframe_core::{CPU_FEATURES, HEADER_LEN, Header, engine_config};
use displaydoc::Display;
use sha2::{Digest, Sha256};
use wasmtime::{Engine, OptLevel};

/// The reason why no image was built. The doc comment of a variant is its message.
#[derive(Debug, Display, thiserror::Error)]
pub enum Failure {
    /// {path}: {reason}
    File {
        /// The path of the file or folder.
        path: String,
        /// The error of the operating system.
        reason: String,
    },
    /// the guest's module: {0}
    Module(String),
    /// the guest's initialisation failed: {0}
    Boot(String),
}

/// The sizes of a built image and its module, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The part of the memory that the image stores.
    pub mapped: usize,
    /// The pages of the stored part that are not all zeros.
    pub used: usize,
    /// The precompiled module.
    pub code: usize,
    /// The file name of the precompiled module.
    pub module_file: String,
}

/// A kind of guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GuestKind {
    /// The guest of `node`, which imports only `coldframe`.
    #[default]
    Node,
    /// The guest of Python, which also imports WASI preview 1.
    Python,
}

impl GuestKind {
    /// Returns the first part of the file name of the precompiled module.
    fn module(self) -> &'static str {
        match self {
            Self::Node => "guest",
            Self::Python => "python",
        }
    }
}

/// Builds `NAME.image` and its module `guest-HASH.cwasm` or `python-HASH.cwasm` in the folder `out`
/// from the module `wasm`. The guest reads the files of the folders `inputs` during its
/// initialisation.
pub fn build(wasm: &[u8], inputs: &[PathBuf], out: &Path, name: &str, kind: GuestKind) -> Result<Built, Failure> {
    let compiler = |error: wasmtime::Error| Failure::Module(format!("{error:#}"));
    let wasm = module::lower_bulk_memory(wasm)?;
    module::check(&wasm, kind == GuestKind::Python)?;
    // The code of this run is used once, and optimizing the code would take longer than the run.
    let initial = boot::run(&engine(OptLevel::None).map_err(compiler)?, &wasm, inputs)?;

    let stripped = module::strip(&wasm)?;
    let code = engine(OptLevel::Speed).and_then(|engine| engine.precompile_module(&stripped)).map_err(compiler)?;
    let hash = coldframe_core::Digest::new(Sha256::digest(&initial.memory).into());
    let code_hash: String = Sha256::digest(&code)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let data = data_range(&initial.memory);
    let header = Header {
        memory_len: initial.memory.len() as u64,
        data_start: data.start as u64,
        data_len: data.len() as u64,
        state_ptr: initial.info.state_ptr,
        inbox_ptr: initial.info.inbox_ptr,
        inbox_len: initial.info.inbox_len,
        frozen_end: initial.info.frozen_end,
        hash,
        module_file: format!("{}-{code_hash}.cwasm", kind.module()),
    };
    std::fs::create_dir_all(out).map_err(|error| file(out, &error))?;
    replace(&out.join(&header.module_file), name, &[&code])?;
    let head = header.encode().map_err(Failure::Module)?;
    replace(&out.join(format!("{name}.image")), name, &[&head, &initial.memory[data.clone()]])?;
    remove_old_modules(out)?;
    let used = initial.memory.chunks(HEADER_LEN).filter(|page| page.iter().any(|byte| *byte != 0)).count() * HEADER_LEN;
    Ok(Built { mapped: data.len(), used, code: code.len(), module_file: header.module_file })
}

/// Returns a text for comparing two builders that have equal sources of this crate. If the texts of
/// two builders are equal, the builders make equal images of equal inputs.
///
/// The text names the compiler, its settings and the format of an image file. A change elsewhere in
/// the core changes the builder's binary and not this text. The build then keeps its images.
pub fn fingerprint() -> Result<String, Failure> {
    let engine = engine(OptLevel::Speed).map_err(|error| Failure::Module(format!("{error:#}")))?;
    let mut compiler = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut compiler);
    let sample = Header {
        memory_len: 1,
        data_start: 2,
        data_len: 3,
        state_ptr: 4,
        inbox_ptr: 5,
        inbox_len: 6,
        frozen_end: 7,
        hash: coldframe_core::Digest::new([8; 32]),
        module_file: "module".to_owned(),
    };
    let format = Sha256::digest(sample.encode().map_err(Failure::Module)?);
    let format: String = format[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("compiler {:016x}, format {format}", compiler.finish()))
}

/// Returns the part of the memory that the image stores: the memory without the whole pages of
/// zeros at its start and its end. The part has at least one page.
fn data_range(memory: &[u8]) -> std::ops::Range<usize> {
    let used = |page: &[u8]| page.iter().any(|byte| *byte != 0);
    let first = memory.chunks_exact(HEADER_LEN).position(used).unwrap_or(0);
    let last = memory.chunks_exact(HEADER_LEN).rposition(used).unwrap_or(0);
    first * HEADER_LEN..(last + 1) * HEADER_LEN
}

/// Returns an engine that compiles at the given level. On x86-64, the code needs only the features
/// of x86-64-v2, which servers of the last ten years have.
fn engine(level: OptLevel) -> wasmtime::Result<Engine> {
    let mut config = engine_config();
    #[cfg(target_arch = "x86_64")]
    {
        config.target("x86_64-unknown-linux-gnu")?;
        for feature in CPU_FEATURES {
            // SAFETY: the flags name features of the processor that runs the code. A sidecar on a
            // processor without these features refuses to load the module.
            unsafe { config.cranelift_flag_enable(&format!("has_{feature}")) };
        }
    }
    config.cranelift_opt_level(level);
    Engine::new(&config)
}

fn file(path: &Path, error: &std::io::Error) -> Failure {
    Failure::File { path: path.display().to_string(), reason: error.to_string() }
}

/// Writes a new file and renames the file to `path`. A process that has mapped the old file keeps
/// the old content. `image` makes the name of the new file unique, because the builds of two images
/// may write their module at the same time.
fn replace(path: &Path, image: &str, parts: &[&[u8]]) -> Result<(), Failure> {
    let temporary = path.with_extension(format!("{image}.new"));
    let write = || {
        let mut file = std::fs::File::create(&temporary)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| file(path, &error))
}

/// Removes the modules in `folder` that no image in the folder names.
fn remove_old_modules(folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| file(folder, &error);
    let entries = std::fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let with = |extension: &str| {
        let paths = entries.iter().map(std::fs::DirEntry::path);
        paths.filter(|path| path.extension().is_some_and(|is| is == extension)).collect::<Vec<_>>()
    };
    let mut named = Vec::new();
    for path in with("image") {
        named.extend(module_of(&path).map_err(|error| file(&path, &error))?);
    }
    for path in with("cwasm") {
        if !named.iter().any(|name| path.ends_with(name)) {
            // Another build may have removed the file.
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(file(&path, &error)),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the name of the module of the image file `path`. Returns `None` if the file is no image
/// of this format.
fn module_of(path: &Path) -> std::io::Result<Option<String>> {
    let mut page = Vec::new();
    let file = std::fs::File::open(path)?;
    let len = file.metadata()?.len();
    file.take(HEADER_LEN as u64).read_to_end(&mut page)?;
    Ok(Header::decode(&page, len).ok().map(|header| header.module_file))
}
