//! The WASI calls of an image build: a guest reads the files of the inputs below `/`.
//!
//! A guest such as CPython needs its library while it starts. The paths of the calls are paths in
//! the inputs, and no call changes a file. Names are listed in order and all times are fixed, so
//! that equal inputs make equal images. A descriptor that is open after the build would be a
//! descriptor of no program, so [`Files::check`] refuses an image with open files. A running VM has
//! the functions of `crates/vm/src/wasi` instead.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use wasmtime::{Linker, Module, Val};

use super::{BUILD_TIME, Call, StoreData, bytes, now};
use crate::Failure;

const MODULE: &str = "wasi_snapshot_preview1";

/// The descriptors that stand for `/` and for the working directory (`crates/vm/src/wasi`). The
/// working directory of a build is `/`.
const ROOTS: [u32; 2] = [0x7fff_0000, 0x7fff_0001];
/// The first descriptor of a file.
const FIRST: u32 = 3;

const SUCCESS: i32 = 0;
const EBADF: i32 = 8;
const EFAULT: i32 = 21;
const EINVAL: i32 = 28;
const EIO: i32 = 29;
const EISDIR: i32 = 31;
const ENOENT: i32 = 44;
const ENOSYS: i32 = 52;
const ENOTDIR: i32 = 54;
const EROFS: i32 = 69;
const ESPIPE: i32 = 70;

const FILE: u8 = 4;
const DIRECTORY: u8 = 3;
/// The right to write.
const WRITE: u64 = 1 << 6;
/// The rights of every descriptor.
const RIGHTS: u64 = ((1 << 30) - 1) & !WRITE;
/// The flags of an open that makes or truncates a file.
const CHANGES: u32 = 1 | 8;

/// The open files of a build.
#[derive(Default)]
pub(super) struct Files(Vec<Option<Open>>);

enum Open {
    File(std::fs::File, PathBuf),
    /// A directory with its path below `/`, and its names in order.
    Directory(PathBuf, Vec<(String, u8)>),
}

impl Files {
    /// Fails if a file is open.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let open = self.0.iter().flatten().map(|open| match open {
            Open::File(_, path) | Open::Directory(path, _) => path.display().to_string(),
        });
        let open: Vec<_> = open.collect();
        if open.is_empty() { Ok(()) } else { Err(Failure::Boot(format!("these files are still open: {}", open.join(", ")))) }
    }

    fn get(&mut self, fd: u32) -> Result<&mut Open, i32> {
        let slot = fd.checked_sub(FIRST).and_then(|index| self.0.get_mut(index as usize));
        slot.and_then(Option::as_mut).ok_or(EBADF)
    }

    fn add(&mut self, open: Open) -> u32 {
        let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if free == self.0.len() {
            self.0.push(None);
        }
        self.0[free] = Some(open);
        FIRST + free as u32
    }

    fn close(&mut self, fd: u32) -> Result<(), i32> {
        self.get(fd)?;
        self.0[(fd - FIRST) as usize] = None;
        Ok(())
    }
}

fn number(result: Result<(), i32>) -> i32 {
    result.err().unwrap_or(SUCCESS)
}

/// Defines the functions that a build needs. Every other function of WASI fails with `ENOSYS`.
pub(super) fn define(linker: &mut Linker<StoreData>, module: &Module) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "fd_prestat_get", |_fd: u32, _out: u32| EBADF)?;
    linker.func_wrap(MODULE, "environ_sizes_get", zeros)?;
    linker.func_wrap(MODULE, "args_sizes_get", zeros)?;
    linker.func_wrap(MODULE, "environ_get", |_: u32, _: u32| SUCCESS)?;
    linker.func_wrap(MODULE, "args_get", |_: u32, _: u32| SUCCESS)?;
    linker.func_wrap(MODULE, "clock_res_get", |mut call: Call<'_>, _clock: u32, out: u32| {
        number(put(&mut call, out, &1_u64.to_le_bytes()))
    })?;
    linker.func_wrap(MODULE, "clock_time_get", |mut call: Call<'_>, clock: u32, _precision: u64, out: u32| {
        let now = now(&mut call, clock == 0);
        number(put(&mut call, out, &now.to_le_bytes()))
    })?;
    linker.func_wrap(MODULE, "random_get", |mut call: Call<'_>, buffer: u32, len: u32| match bytes(&mut call, buffer, len) {
        Some(bytes) => {
            bytes.fill(0x5a);
            SUCCESS
        }
        None => EFAULT,
    })?;
    linker.func_wrap(MODULE, "sched_yield", || SUCCESS)?;
    linker.func_wrap(MODULE, "fd_close", |mut call: Call<'_>, fd: u32| number(call.data_mut().files.close(fd)))?;
    linker.func_wrap(MODULE, "fd_fdstat_get", |mut call: Call<'_>, fd: u32, out: u32| number(fdstat(&mut call, fd, out)))?;
    linker.func_wrap(MODULE, "fd_fdstat_set_flags", |_fd: u32, _flags: u32| SUCCESS)?;
    linker
        .func_wrap(MODULE, "fd_filestat_get", |mut call: Call<'_>, fd: u32, out: u32| number(fd_filestat(&mut call, fd, out)))?;
    linker.func_wrap(MODULE, "fd_read", |mut call: Call<'_>, fd: u32, vectors: u32, count: u32, out: u32| {
        number(read(&mut call, fd, vectors, count, out))
    })?;
    linker.func_wrap(MODULE, "fd_write", |mut call: Call<'_>, fd: u32, vectors: u32, count: u32, out: u32| {
        number(write(&mut call, fd, vectors, count, out))
    })?;
    linker.func_wrap(MODULE, "fd_seek", |mut call: Call<'_>, fd: u32, offset: i64, whence: u32, out: u32| {
        number(seek(&mut call, fd, offset, whence, out))
    })?;
    linker.func_wrap(MODULE, "fd_tell", |mut call: Call<'_>, fd: u32, out: u32| number(seek(&mut call, fd, 0, 1, out)))?;
    linker.func_wrap(MODULE, "fd_readdir", |mut call: Call<'_>, fd: u32, buffer: u32, len: u32, cookie: u64, out: u32| {
        number(readdir(&mut call, fd, (buffer, len), cookie, out))
    })?;
    linker.func_wrap(
        MODULE,
        "path_filestat_get",
        |mut call: Call<'_>, fd: u32, _lookup: u32, path: u32, len: u32, out: u32| {
            number(path_filestat(&mut call, fd, (path, len), out))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_open",
        |mut call: Call<'_>, fd: u32, _lookup: u32, path: u32, len: u32, how: u32, rights: u64, _: u64, _: u32, out: u32| {
            number(open(&mut call, fd, (path, len), how, rights, out))
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_readlink",
        |mut call: Call<'_>, fd: u32, path: u32, len: u32, _buffer: u32, _capacity: u32, _out: u32| {
            number(resolve(&mut call, fd, (path, len)).and(Err(EINVAL)))
        },
    )?;
    for import in module.imports().filter(|import| import.module() == MODULE) {
        let (name, Some(ty)) = (import.name(), import.ty().func().cloned()) else { continue };
        let stub = linker.func_new(MODULE, name, ty, |_call, _parameters, results| {
            results.iter_mut().for_each(|result| *result = Val::I32(ENOSYS));
            Ok(())
        });
        // The name may be defined above.
        drop(stub);
    }
    Ok(())
}

fn zeros(mut call: Call<'_>, count: u32, len: u32) -> i32 {
    number(put(&mut call, count, &[0; 4]).and_then(|()| put(&mut call, len, &[0; 4])))
}

fn put(call: &mut Call<'_>, address: u32, value: &[u8]) -> Result<(), i32> {
    bytes(call, address, value.len() as u32).ok_or(EFAULT)?.copy_from_slice(value);
    Ok(())
}

/// Finds the file of a path in the inputs. Returns the file's path in its input and the path below
/// `/`.
fn resolve(call: &mut Call<'_>, fd: u32, (path, len): (u32, u32)) -> Result<(PathBuf, PathBuf), i32> {
    let text = bytes(call, path, len).ok_or(EFAULT)?.to_vec();
    let path = PathBuf::from(String::from_utf8(text).map_err(|_| ENOENT)?);
    let base = match call.data_mut().files.get(fd) {
        _ if path.is_absolute() || ROOTS.contains(&fd) => PathBuf::new(),
        Ok(Open::Directory(base, _)) => base.clone(),
        Ok(Open::File(..)) => return Err(ENOTDIR),
        Err(error) => return Err(error),
    };
    let mut inside = base;
    for part in path.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::ParentDir => drop(inside.pop()),
            _ => {}
        }
    }
    let found = call.data().inputs.iter().map(|folder| folder.join(&inside)).find(|file| file.exists());
    Ok((found.ok_or(ENOENT)?, inside))
}

fn open(call: &mut Call<'_>, fd: u32, path: (u32, u32), how: u32, rights: u64, out: u32) -> Result<(), i32> {
    let (file, inside) = match resolve(call, fd, path) {
        Err(ENOENT) if how & CHANGES != 0 => return Err(EROFS),
        found => found?,
    };
    let opened = if file.is_dir() {
        let names = std::fs::read_dir(&file).map_err(|_| EIO)?.map(|entry| {
            let entry = entry.map_err(|_| EIO)?;
            let is_directory = entry.path().is_dir();
            let name = entry.file_name().into_string().map_err(|_| EIO)?;
            Ok((name, if is_directory { DIRECTORY } else { FILE }))
        });
        let mut names = names.collect::<Result<Vec<_>, i32>>()?;
        names.sort();
        Open::Directory(inside, names)
    } else {
        if rights & WRITE != 0 || how & CHANGES != 0 {
            return Err(EROFS);
        }
        Open::File(std::fs::File::open(&file).map_err(|_| EIO)?, inside)
    };
    let fd = call.data_mut().files.add(opened);
    put(call, out, &fd.to_le_bytes())
}

fn fdstat(call: &mut Call<'_>, fd: u32, out: u32) -> Result<(), i32> {
    let kind = match call.data_mut().files.get(fd) {
        _ if fd < FIRST => 0,
        _ if ROOTS.contains(&fd) => DIRECTORY,
        Ok(Open::File(..)) => FILE,
        Ok(Open::Directory(..)) => DIRECTORY,
        Err(error) => return Err(error),
    };
    let mut block = [0; 24];
    block[0] = kind;
    block[8..16].copy_from_slice(&RIGHTS.to_le_bytes());
    block[16..].copy_from_slice(&RIGHTS.to_le_bytes());
    put(call, out, &block)
}

/// Returns WASI's attributes of a file. The inode number is a hash of the path below `/`.
fn filestat(file: &Path, inside: &Path) -> Result<[u8; 64], i32> {
    let metadata = file.metadata().map_err(|_| EIO)?;
    let inode = inside
        .to_string_lossy()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let (kind, size) = if metadata.is_dir() { (DIRECTORY, 4_096) } else { (FILE, metadata.len()) };
    let time = BUILD_TIME.cast_unsigned();
    let fields = [1, inode, u64::from(kind), 1, size, time, time, time];
    let mut block = [0; 64];
    for (chunk, field) in block.chunks_exact_mut(8).zip(fields) {
        chunk.copy_from_slice(&field.to_le_bytes());
    }
    Ok(block)
}

fn path_filestat(call: &mut Call<'_>, fd: u32, path: (u32, u32), out: u32) -> Result<(), i32> {
    let (file, inside) = resolve(call, fd, path)?;
    let block = filestat(&file, &inside)?;
    put(call, out, &block)
}

fn fd_filestat(call: &mut Call<'_>, fd: u32, out: u32) -> Result<(), i32> {
    if fd < FIRST {
        return put(call, out, &[0; 64]);
    }
    let inside = match call.data_mut().files.get(fd)? {
        Open::File(_, path) | Open::Directory(path, _) => path.clone(),
    };
    let file = call.data().inputs.iter().map(|folder| folder.join(&inside)).find(|file| file.exists()).ok_or(EIO)?;
    let block = filestat(&file, &inside)?;
    put(call, out, &block)
}

/// Returns the addresses and lengths of the vectors.
fn vectors(call: &mut Call<'_>, address: u32, count: u32) -> Result<Vec<(u32, u32)>, i32> {
    let list = bytes(call, address, count.checked_mul(8).ok_or(EINVAL)?).ok_or(EFAULT)?;
    let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(list.chunks_exact(8).map(|vector| (number(vector), number(&vector[4..]))).collect())
}

fn read(call: &mut Call<'_>, fd: u32, list: u32, count: u32, out: u32) -> Result<(), i32> {
    let mut total = 0_u32;
    for (address, len) in vectors(call, list, count)? {
        let mut part = vec![0; len as usize];
        let done = match call.data_mut().files.get(fd) {
            _ if fd == 0 => 0,
            Ok(Open::File(file, _)) => file.read(&mut part).map_err(|_| EIO)?,
            Ok(Open::Directory(..)) => return Err(EISDIR),
            Err(error) => return Err(error),
        };
        put(call, address, &part[..done])?;
        total += done as u32;
        if done < part.len() {
            break;
        }
    }
    put(call, out, &total.to_le_bytes())
}

/// Prints the output of the guest.
fn write(call: &mut Call<'_>, fd: u32, list: u32, count: u32, out: u32) -> Result<(), i32> {
    if !(1..FIRST).contains(&fd) {
        return Err(EBADF);
    }
    let mut total = 0_u32;
    for (address, len) in vectors(call, list, count)? {
        eprint!("{}", String::from_utf8_lossy(bytes(call, address, len).ok_or(EFAULT)?));
        total += len;
    }
    put(call, out, &total.to_le_bytes())
}

fn seek(call: &mut Call<'_>, fd: u32, offset: i64, whence: u32, out: u32) -> Result<(), i32> {
    if fd < FIRST {
        return Err(ESPIPE);
    }
    let Open::File(file, _) = call.data_mut().files.get(fd)? else { return Err(EISDIR) };
    let to = match whence {
        0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| EINVAL)?),
        1 => SeekFrom::Current(offset),
        2 => SeekFrom::End(offset),
        _ => return Err(EINVAL),
    };
    let position = file.seek(to).map_err(|_| EINVAL)?;
    put(call, out, &position.to_le_bytes())
}

fn readdir(call: &mut Call<'_>, fd: u32, (buffer, len): (u32, u32), cookie: u64, out: u32) -> Result<(), i32> {
    let Open::Directory(_, names) = call.data_mut().files.get(fd)? else { return Err(ENOTDIR) };
    let mut filled = Vec::new();
    let skipped = usize::try_from(cookie).map_err(|_| EINVAL)?;
    for (place, (name, kind)) in names.iter().enumerate().skip(skipped) {
        filled.extend((place as u64 + 1).to_le_bytes());
        filled.extend([0; 8]);
        filled.extend((name.len() as u32).to_le_bytes());
        filled.extend([*kind, 0, 0, 0]);
        filled.extend(name.as_bytes());
        if filled.len() >= len as usize {
            break;
        }
    }
    filled.truncate(len as usize);
    put(call, buffer, &filled)?;
    put(call, out, &(filled.len() as u32).to_le_bytes())
}
