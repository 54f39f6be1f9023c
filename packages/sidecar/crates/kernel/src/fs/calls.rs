//! The table of the family's calls: the number of each call and the meaning of its integers
//! (`docs/internals/guest-abi.md`). Next: `view.rs`.

use super::io;
use super::stat::put_numbers;
use super::view::View;
use super::watch;
use crate::caller::Caller;
use crate::{Answer, Arguments, Process};
use coldframe_error::Errno;
use std::sync::Arc;

/// Carries out a call of the family.
pub(crate) fn call(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let result = carry_out(program, number, arguments);
    if result == Err(Errno::EACCES) {
        let process = program.process();
        process.files.view(&process.kernel.files).end_denied_call();
    }
    result
}

fn carry_out(program: &Arc<dyn Caller>, number: u32, arguments: &mut Arguments<'_>) -> Answer {
    let process = program.process();
    match number & 0xff {
        0x00 => io::open(process, &arguments.path(0)?, arguments.number(2)?, arguments.number(3)?),
        0x01 => process.close_descriptor(arguments.int(0), false),
        0x02 => {
            let (fd, offset) = (arguments.int(0), offset(arguments.int(3))?);
            io::read(&**program, fd, arguments.bytes_mut(1)?, offset)
        }
        0x03 => io::write(&**program, arguments.int(0), arguments.bytes(1)?, offset(arguments.int(3))?),
        0x05 => {
            let stat = io::fstat(process, arguments.int(0))?;
            stat.put(arguments.bytes_mut(1)?).map(|()| 0)
        }
        0x0e => io::readdir(process, arguments, 1),
        0x0f => io::ftruncate(process, arguments.int(0), arguments.number(1)?),
        0x11 | 0x13 | 0x15 | 0x16 => io::change(process, number & 0xff, arguments),
        0x19 => io::lseek(process, arguments.int(0), arguments.int(1), arguments.int(2)),
        0x1b => {
            let path = process.files.getcwd(&process.kernel.files.lock())?;
            arguments.put(0, &path)
        }
        0x23 => {
            let reason = process.files.view(&process.kernel.files).reason().unwrap_or_default();
            arguments.put(0, reason.as_bytes())
        }
        0x24 => process.kind_of(arguments.int(0)),
        0x20 => watch::unwatch(process, arguments.int(0)),
        0x21 => Ok(i64::from(process.files.set_umask(arguments.number(0)?))),
        call @ 0x04..=0x22 => by_path(process, call, arguments),
        _ => Err(Errno::ENOSYS),
    }
}

/// Returns a position. -1 means none.
fn offset(number: i64) -> Result<Option<u64>, Errno> {
    if number == -1 {
        return Ok(None);
    }
    u64::try_from(number).map(Some).map_err(|_| Errno::EINVAL)
}

/// Returns an owner. -1 means none, also as a u32.
pub(super) fn owner(number: i64) -> Result<Option<u32>, Errno> {
    if number == -1 || number == i64::from(u32::MAX) {
        return Ok(None);
    }
    u32::try_from(number).map(Some).map_err(|_| Errno::EINVAL)
}

fn by_path(process: &Process, call: u32, arguments: &mut Arguments<'_>) -> Answer {
    let path = arguments.path(0)?;
    let view: View<'_> = process.files.view(&process.kernel.files);
    let done = match call {
        0x04 => view.stat(&path, arguments.int(4) != 0)?.put(arguments.bytes_mut(2)?),
        0x06 => view.access(&path, arguments.number(2)?),
        0x07 => view.mkdir(&path, arguments.number(2)?),
        0x08 => view.rmdir(&path),
        0x09 => view.unlink(&path),
        0x0a => view.rename(&path, &arguments.path(2)?),
        0x0b => view.link(&path, &arguments.path(2)?),
        0x0c => view.symlink(&path, &arguments.path(2)?),
        0x0d => return arguments.put(2, &view.readlink(&path)?),
        0x10 => view.chmod(&path, arguments.number(2)?, arguments.int(3) != 0),
        0x12 => view.chown(&path, owner(arguments.int(2))?, owner(arguments.int(3))?, arguments.int(4) != 0),
        0x14 => view.utimes(&path, arguments.int(2), arguments.int(3), arguments.int(4) != 0),
        0x17 => return arguments.put(2, &view.real_path(&path)?),
        0x18 => put_numbers(&view.space(&path)?, arguments.bytes_mut(2)?),
        0x1a => process.files.chdir(&process.kernel.files, &path),
        0x1c => {
            let more = view.copy_file(&path, &arguments.path(2)?, arguments.int(4) & 1 != 0, arguments.number(5)?)?;
            return i64::try_from(more.unwrap_or(0)).map_err(|_| Errno::EFBIG);
        }
        0x1d => return view.stat(&path, true).map(|stat| i64::from(stat.kind == super::node::Type::Directory)),
        0x1f => return watch::watch(process, &path, arguments.int(2)),
        0x1e => {
            let len = view.read_file(&path, arguments.bytes_mut(2)?)?;
            return i64::try_from(len).map_err(|_| Errno::EFBIG);
        }
        0x22 => view.truncate(&path, arguments.number(2)?),
        _ => Err(Errno::ENOSYS),
    };
    done.map(|()| 0)
}
