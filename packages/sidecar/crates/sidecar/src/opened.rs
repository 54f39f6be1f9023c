//! Requests about what stays open in a runtime: files for streams, archives, watches; and those that set what `stat` shows.

use coldframe_core as core;
use coldframe_core::{ArchiveUse, ChangeKind, OpenOptions, Runtime};
use coldframe_protocol::Request;
use coldframe_protocol::messages::{ChangeList, ChangeType, Empty, FileData, FileHandle, Kind, LinkTarget, Purpose};

use crate::files::MOST;
use crate::sinks::Answers;
use crate::table::Place;
use crate::wire;

/// Whose files a request is about; none for a request of another family.
pub fn runtime(request: &Request<'_>) -> Option<u32> {
    Some(match request {
        Request::FileOpen(open) => open.runtime,
        Request::FileClose(close) => close.runtime,
        Request::FilePull(pull) => pull.runtime,
        Request::FilePush(push) => push.runtime,
        Request::FileWatch(watch) => watch.runtime,
        Request::FileChanges(changes) => changes.runtime,
        Request::FileSet(set) => set.runtime,
        Request::FileLink(link) => link.runtime,
        Request::FileReadlink(link) => link.runtime,
        _ => return None,
    })
}

/// Carries a request out; the frame that answers it.
pub fn carry_out(id: u32, request: &Request<'_>, files: &core::Files) -> Result<Vec<u8>, core::Error> {
    let kind = Kind::Reply;
    match request {
        Request::FileOpen(open) => {
            let options = |truncate| OpenOptions { write: true, truncate, append: !truncate, mode: open.mode };
            let (handle, size) = match open.r#for {
                Purpose::Read => files.open(open.path, OpenOptions::default())?,
                Purpose::Write => files.open(open.path, options(true))?,
                Purpose::Append => files.open(open.path, options(false))?,
                Purpose::Export => (files.open_archive(open.path, ArchiveUse::Export)?, 0),
                Purpose::Import => (files.open_archive(open.path, ArchiveUse::Import)?, 0),
            };
            return Ok(wire::frame(kind, id, &FileHandle { handle, size, directory: false }, 64));
        }
        Request::FilePull(pull) => {
            let most = usize::try_from(pull.length.min(MOST)).unwrap_or(0);
            let (data, size) = files.read_open(pull.handle, pull.offset.unwrap_or(0), most)?;
            return Ok(wire::frame(kind, id, &FileData { data: &data, size }, 64 + data.len()));
        }
        Request::FileWatch(watch) => {
            let (handle, directory) = files.watch(watch.path, watch.recursive.unwrap_or(false))?;
            return Ok(wire::frame(kind, id, &FileHandle { handle, size: 0, directory }, 64));
        }
        Request::FileReadlink(link) => {
            let target = files.readlink(link.path)?;
            return Ok(wire::frame(kind, id, &LinkTarget { target: &target }, 64 + target.len()));
        }
        Request::FileClose(close) => files.close(close.handle, close.discard.unwrap_or(false))?,
        Request::FilePush(push) => files.write_open(push.handle, push.offset.unwrap_or(0), push.data)?,
        Request::FileLink(link) if link.hard == Some(true) => files.link(link.target, link.path)?,
        Request::FileLink(link) => files.symlink(link.target, link.path)?,
        Request::FileSet(set) => {
            let follow = set.follow.unwrap_or(true);
            if let Some(mode) = set.mode {
                files.chmod(set.path, mode, follow)?;
            }
            if set.atime_us.is_some() || set.mtime_us.is_some() {
                let ns = |us: Option<i64>| us.map(|us| us.saturating_mul(1_000));
                files.utimes(set.path, ns(set.atime_us), ns(set.mtime_us), follow)?;
            }
        }
        _ => {}
    }
    Ok(wire::frame(kind, id, &Empty {}, 64))
}

/// Answers `file.changes`, when there are some. The request has begun.
pub fn wait_for_changes(id: u32, place: Place, handle: u32, runtime: &Runtime, answers: &Answers) {
    let later = answers.clone();
    let asked = runtime.files().next_changes(handle, move |changes| {
        later.answer(id, || changed(id, changes));
    });
    if let Err(error) = asked {
        answers.fail(id, &error, place);
    }
}

fn changed(id: u32, changes: Option<core::Changes>) -> Vec<u8> {
    let ended = changes.is_none();
    let core::Changes { changes, overflow } = changes.unwrap_or_default();
    let type_of = |kind| if kind == ChangeKind::Name { ChangeType::Rename } else { ChangeType::Change };
    let body = ChangeList {
        names: changes.iter().map(|change| change.name.as_str()).collect(),
        types: changes.iter().map(|change| type_of(change.kind)).collect(),
        overflow,
        ended,
    };
    wire::frame(Kind::Reply, id, &body, 64 + 64 * changes.len())
}
