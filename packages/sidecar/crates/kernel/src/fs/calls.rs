//! The system calls of files. The function [`call`] decodes the integers of a system call
//! (`docs/internals/guest-abi.md`) and runs the system call. Next: `view.rs`.

use super::io::{self, Change};
use super::node::Type;
use super::stat::put_numbers;
use super::view::View;
use super::watch;
use crate::caller::Caller;
use crate::ids::Fd;
use crate::{Answer, Arguments};
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use std::sync::Arc;

/// Runs a system call of the family `files`.
pub(crate) fn call(program: &Arc<dyn Caller>, call: FileCall, arguments: &mut Arguments<'_>) -> Answer {
    let answer = carry_out(program, call, arguments);
    if answer == Err(Errno::EACCES) {
        let process = program.process();
        process.files.view(&process.kernel.files).end_denied_call();
    }
    answer
}

fn carry_out(program: &Arc<dyn Caller>, call: FileCall, arguments: &mut Arguments<'_>) -> Answer {
    let process = program.process();
    let [from, to] = arguments.starts();
    let start = io::start(process, from)?;
    let view = || match &start {
        None => process.files.view(&process.kernel.files),
        Some(place) => View { cwd: Some(place.clone()), ..process.files.view(&process.kernel.files) },
    };
    let second = |path: Vec<u8>| if from == to { Ok(path) } else { io::absolute(process, to, path) };
    match call {
        FileCall::Open => {
            io::open(process, &view(), &arguments.path(0)?, arguments.number(2)?, arguments.number(3)?).map(Fd::answer)
        }
        FileCall::Close => process.close_descriptor(arguments.fd(0)?, false),
        FileCall::Read => {
            let (fd, offset) = (arguments.fd(0)?, offset(arguments.int(3))?);
            io::read(&**program, fd, arguments.bytes_mut(1)?, offset)
        }
        FileCall::Write => io::write(&**program, arguments.fd(0)?, arguments.bytes(1)?, offset(arguments.int(3))?),
        FileCall::Stat => {
            let stat = view().stat(&arguments.path(0)?, arguments.int(4) != 0)?;
            stat.put(arguments.bytes_mut(2)?).map(|()| 0)
        }
        FileCall::Fstat => {
            let stat = io::fstat(process, arguments.fd(0)?)?;
            stat.put(arguments.bytes_mut(1)?).map(|()| 0)
        }
        FileCall::Access => {
            let view = View { user: process.files.real_user(), ..view() };
            view.access(&arguments.path(0)?, arguments.number(2)?).map(|()| 0)
        }
        FileCall::Mkdir => view().mkdir(&arguments.path(0)?, arguments.number(2)?).map(|()| 0),
        FileCall::Rmdir => view().rmdir(&arguments.path(0)?).map(|()| 0),
        FileCall::Unlink => view().unlink(&arguments.path(0)?).map(|()| 0),
        FileCall::Rename => view().rename(&arguments.path(0)?, &second(arguments.path(2)?)?).map(|()| 0),
        FileCall::Link => view().link(&arguments.path(0)?, &second(arguments.path(2)?)?).map(|()| 0),
        FileCall::Symlink => view().symlink(&arguments.path(0)?, &arguments.path(2)?).map(|()| 0),
        FileCall::Readlink => {
            let target = view().readlink(&arguments.path(0)?)?;
            arguments.put(2, &target)
        }
        FileCall::Readdir => io::readdir(process, arguments, 1),
        FileCall::Ftruncate => io::ftruncate(process, arguments.fd(0)?, arguments.number(1)?),
        FileCall::Chmod => view().chmod(&arguments.path(0)?, arguments.number(2)?, arguments.int(3) != 0).map(|()| 0),
        FileCall::Fchmod => io::change(process, arguments.fd(0)?, Change::Mode(arguments.int(1))),
        FileCall::Chown => {
            let (path, follow) = (arguments.path(0)?, arguments.int(4) != 0);
            view().chown(&path, owner(arguments.int(2))?, owner(arguments.int(3))?, follow).map(|()| 0)
        }
        FileCall::Fchown => io::change(process, arguments.fd(0)?, Change::Owner(arguments.int(1), arguments.int(2))),
        FileCall::Utimes => {
            let (path, follow) = (arguments.path(0)?, arguments.int(4) != 0);
            view().utimes(&path, arguments.int(2), arguments.int(3), follow).map(|()| 0)
        }
        FileCall::Futimes => io::change(process, arguments.fd(0)?, Change::Times(arguments.int(1), arguments.int(2))),
        FileCall::Fsync => io::change(process, arguments.fd(0)?, Change::Sync),
        FileCall::Realpath => {
            let path = view().real_path(&arguments.path(0)?)?;
            arguments.put(2, &path)
        }
        FileCall::Statfs => {
            let space = view().space(&arguments.path(0)?)?;
            put_numbers(&space, arguments.bytes_mut(2)?).map(|()| 0)
        }
        FileCall::Lseek => io::lseek(process, arguments.fd(0)?, arguments.int(1), arguments.int(2)),
        FileCall::Chdir => process.files.chdir(&process.kernel.files, start, &arguments.path(0)?).map(|()| 0),
        FileCall::Getcwd => {
            let path = process.files.getcwd(&process.kernel.files.lock())?;
            arguments.put(0, &path)
        }
        FileCall::CopyFile => {
            let (from, to, must_be_new) = (arguments.path(0)?, arguments.path(2)?, arguments.int(4) & 1 != 0);
            let more = view().copy_file(&from, &to, must_be_new, arguments.number(5)?)?;
            i64::try_from(more.unwrap_or(0)).map_err(|_| Errno::EFBIG)
        }
        FileCall::ModuleStat => {
            let stat = view().stat(&arguments.path(0)?, true)?;
            Ok(i64::from(stat.kind == Type::Directory))
        }
        FileCall::ReadFile => {
            let path = arguments.path(0)?;
            let len = view().read_file(&path, arguments.bytes_mut(2)?)?;
            i64::try_from(len).map_err(|_| Errno::EFBIG)
        }
        FileCall::Watch => watch::watch(process, &arguments.path(0)?, arguments.int(2)),
        FileCall::Unwatch => watch::unwatch(process, arguments.int(0)),
        FileCall::Umask => Ok(i64::from(process.files.set_umask(arguments.number(0)?))),
        FileCall::Truncate => view().truncate(&arguments.path(0)?, arguments.number(2)?).map(|()| 0),
        FileCall::Reason => {
            let reason = view().reason().unwrap_or_default();
            arguments.put(0, reason.as_bytes())
        }
        FileCall::Kind => process.kind_of(arguments.fd(0)),
        FileCall::Duplicate => process.duplicate(arguments.fd(0)?, arguments.number(1)?).map(Fd::answer),
        FileCall::DuplicateTo => process.duplicate_to(arguments.fd(0)?, arguments.fd(1)?).map(Fd::answer),
        FileCall::StatusFlags => {
            let description = process.files.descriptors.lock().get(arguments.fd(0)?)?;
            Ok(i64::from(description.status_flags()))
        }
        FileCall::SetStatusFlags => {
            let description = process.files.descriptors.lock().get(arguments.fd(0)?)?;
            description.set_status_flags(arguments.number(1)?).map(|()| 0)
        }
        FileCall::SetAttribute => {
            let (path, name) = (arguments.path(0)?, arguments.bytes(2)?.to_vec());
            let (flags, follow) = (arguments.number(6)?, arguments.int(7) != 0);
            view().set_attribute(&path, &name, arguments.bytes(4)?, flags, follow).map(|()| 0)
        }
        FileCall::Attribute => {
            let (path, name) = (arguments.path(0)?, arguments.bytes(2)?.to_vec());
            let value = view().attribute(&path, &name, arguments.int(6) != 0)?;
            put_or_measure(arguments, 4, &value)
        }
        FileCall::AttributeNames => {
            let names = view().attribute_names(&arguments.path(0)?, arguments.int(4) != 0)?;
            put_or_measure(arguments, 2, &names)
        }
        FileCall::RemoveAttribute => {
            let (path, name) = (arguments.path(0)?, arguments.bytes(2)?.to_vec());
            view().remove_attribute(&path, &name, arguments.int(4) != 0).map(|()| 0)
        }
    }
}

/// Writes bytes to the buffer at `index` and returns their length. An empty buffer receives
/// nothing. Fails with `ERANGE` if the buffer is too short, as Linux's calls of extended
/// attributes.
fn put_or_measure(arguments: &mut Arguments<'_>, index: usize, bytes: &[u8]) -> Answer {
    let out = arguments.bytes_mut(index)?;
    if !out.is_empty() {
        out.get_mut(..bytes.len()).ok_or(Errno::ERANGE)?.copy_from_slice(bytes);
    }
    i64::try_from(bytes.len()).map_err(|_| Errno::EINVAL)
}

/// Converts an integer to an offset. Returns `None` for -1, which means the description's position.
fn offset(number: i64) -> Result<Option<u64>, Errno> {
    if number == -1 {
        return Ok(None);
    }
    u64::try_from(number).map(Some).map_err(|_| Errno::EINVAL)
}

/// Converts an integer to an owner's id. Returns `None` for -1, also in the form of a u32.
pub(super) fn owner(number: i64) -> Result<Option<u32>, Errno> {
    if number == -1 || number == i64::from(u32::MAX) {
        return Ok(None);
    }
    u32::try_from(number).map(Some).map_err(|_| Errno::EINVAL)
}
