//! Requests about files. Each request is one call of the core. The call runs at once, or in the
//! order of the runtime's calls without the session (`owner_calls.rs`). `file.changes` is answered
//! later.

use std::sync::Arc;

use coldframe_core as core;
use coldframe_core::{ArchiveUse, ChangeKind, Error, Files, OpenOptions, Runtime, without_guests};
use coldframe_ids::{HandleId, RequestId, RuntimeId};
use coldframe_protocol::messages::{
    Blobs, ChangeList, ChangeType, FileAttributeList, FileChanges, FileData, FileHandle, FileNames, FileOpen, FileRequest,
    FileSet, FileStatus, FileType, LinkTarget, Owner, Purpose,
};
use coldframe_protocol::{Frame, Request};

use crate::convert;
use crate::message::Message;
use crate::replies::Reply;
use crate::session::{self, Handled, JobThread, Session, Violation};
use crate::table::ErrorContext;

/// The largest number of bytes in one reply. The remaining 1,024 bytes of the frame are for the
/// other fields.
const MAX_READ_BYTES: u64 = (32 << 20) - 1_024;

impl Session {
    /// Handles a request about a file. `frame` is the frame of the request, which a call on another
    /// thread decodes again.
    pub(crate) fn file(
        &mut self,
        id: RequestId,
        request: &FileRequest<'_>,
        frame: Option<&Frame<'_>>,
        may_run_here: bool,
    ) -> Handled {
        if let FileRequest::FileChanges(changes) = request {
            self.wait_for_changes(id, changes)?;
            return Ok(None);
        }
        let runtime = runtime_of(request);
        let Some(live) = self.open_runtime(runtime) else {
            self.refuse(id, &self.no_runtime(runtime));
            return Ok(None);
        };
        let Some(frame) = frame.filter(|_| live.may_wait_for_guests() || may_take_long(request)) else {
            without_guests(|| self.send(reply(&live.runtime, id, runtime, request)));
            return Ok(None);
        };
        let (kind, body, outlet) = (frame.kind, frame.body.to_vec(), Arc::clone(&self.replies.outlet));
        let called = live.runtime.clone();
        let call = Box::new(move || {
            let frame = Frame { kind, id: id.get(), body: &body, more: false };
            // The body has been decoded before, so the decoding cannot fail.
            if let Ok(Request::File(request)) = Request::decode(&frame) {
                outlet.send(reply(&called, id, runtime, &request));
            }
        });
        if self.job_thread == JobThread::MayWait {
            return Ok(live.calls.add(&self.owner_threads, may_run_here, call));
        }
        Ok(self.call(live, &live.calls, may_run_here, call))
    }

    fn wait_for_changes(&self, id: RequestId, request: &FileChanges) -> Result<(), Violation> {
        let Some(live) = self.open_runtime(request.runtime) else {
            self.refuse(id, &self.no_runtime(request.runtime));
            return Ok(());
        };
        let called = live.runtime.clone();
        if !self.begin(id, None)? {
            return Ok(());
        }
        let replies = self.replies.clone();
        let waiting = called.contain(|runtime| {
            runtime.files().next_changes(request.handle, move |changes| {
                replies.answer(id, || changed(Reply(id), changes));
            })
        });
        if let Err(error) = waiting {
            self.replies.fail(id, &error, ErrorContext::runtime(request.runtime));
        }
        Ok(())
    }
}

/// Returns the runtime of a request.
fn runtime_of(request: &FileRequest<'_>) -> RuntimeId {
    match request {
        FileRequest::FileRead(request) => request.runtime,
        FileRequest::FileWrite(request) => request.runtime,
        FileRequest::FileList(request) => request.runtime,
        FileRequest::FileStat(request) => request.runtime,
        FileRequest::FileMkdir(request) | FileRequest::FileRemove(request) => request.runtime,
        FileRequest::FileRename(request) => request.runtime,
        FileRequest::FileOpen(request) => request.runtime,
        FileRequest::FileClose(request) => request.runtime,
        FileRequest::FilePull(request) => request.runtime,
        FileRequest::FilePush(request) => request.runtime,
        FileRequest::FileWatch(request) => request.runtime,
        FileRequest::FileChanges(request) => request.runtime,
        FileRequest::FileDrain(request) => request.runtime,
        FileRequest::FileAttributeSet(request) => request.runtime,
        FileRequest::FileAttributes(request) => request.runtime,
        FileRequest::FileSet(request) => request.runtime,
        FileRequest::FileLink(request) => request.runtime,
        FileRequest::FileReadlink(request) => request.runtime,
    }
}

/// Returns the owner of the files that a request creates.
fn owner_of(request: &FileRequest<'_>) -> Option<Owner> {
    match request {
        FileRequest::FileWrite(request) => request.owner,
        FileRequest::FileMkdir(request) => request.owner,
        FileRequest::FileOpen(request) => request.owner,
        FileRequest::FileLink(request) => request.owner,
        _ => None,
    }
}

/// Returns whether the call may visit many files, which a program may have made.
fn may_take_long(request: &FileRequest<'_>) -> bool {
    match request {
        FileRequest::FileRemove(remove) => remove.recursive == Some(true),
        FileRequest::FileList(_) => true,
        _ => false,
    }
}

/// Makes the reply or the failure of a request.
fn reply(called: &Runtime, id: RequestId, runtime: RuntimeId, request: &FileRequest<'_>) -> Message {
    session::answer(
        id,
        runtime,
        called.contain(|called| {
            let files = match owner_of(request) {
                Some(owner) => called.files().owned_by(convert::owner(owner))?,
                None => called.files(),
            };
            answer(&files, Reply(id), request)
        }),
    )
}

/// Runs the call of the core for a request.
fn answer(files: &Files, reply: Reply, request: &FileRequest<'_>) -> Result<Message, Error> {
    match request {
        FileRequest::FileRead(read) => {
            let (data, size) = files.read(read.path, read.offset.unwrap_or(0), most(read.length))?;
            Ok(reply.body(&FileData { data: &data, size }, 64 + data.len()))
        }
        FileRequest::FileWrite(write) => {
            let append = write.append.unwrap_or(false);
            match write.mode {
                Some(mode) => files.write_with_mode(write.path, write.data, append, mode)?,
                None => files.write(write.path, write.data, append)?,
            }
            Ok(reply.done())
        }
        FileRequest::FileList(list) => {
            let entries = files.list(list.path)?;
            let names = entries.iter().map(|entry| entry.name.as_str()).collect();
            let types = entries.iter().map(|entry| file_type(entry.kind)).collect();
            Ok(reply.body(&FileNames { names, types }, 64 + 32 * entries.len()))
        }
        FileRequest::FileStat(stat) => Ok(reply.body(&status(&files.stat(stat.path, stat.follow.unwrap_or(true))?), 256)),
        FileRequest::FileMkdir(tree) => {
            files.mkdir(tree.path, tree.recursive.unwrap_or(false))?;
            Ok(reply.done())
        }
        FileRequest::FileRemove(tree) => {
            files.remove(tree.path, tree.recursive.unwrap_or(false))?;
            Ok(reply.done())
        }
        FileRequest::FileRename(rename) => {
            files.rename(rename.from, rename.to)?;
            Ok(reply.done())
        }
        FileRequest::FileOpen(open) => {
            let (handle, size) = open_file(files, open)?;
            Ok(reply.body(&FileHandle { handle, size, directory: false }, 64))
        }
        FileRequest::FileClose(close) => {
            files.close(close.handle, close.discard.unwrap_or(false))?;
            Ok(reply.done())
        }
        FileRequest::FilePull(pull) => {
            let (data, size) = files.read_open(pull.handle, pull.offset.unwrap_or(0), most(pull.length))?;
            Ok(reply.body(&FileData { data: &data, size }, 64 + data.len()))
        }
        FileRequest::FilePush(push) => {
            files.write_open(push.handle, push.offset.unwrap_or(0), push.data)?;
            Ok(reply.done())
        }
        FileRequest::FileWatch(watch) => {
            let (handle, directory) = files.watch(watch.path, watch.recursive.unwrap_or(false), watch.typed.unwrap_or(false))?;
            Ok(reply.body(&FileHandle { handle, size: 0, directory }, 64))
        }
        FileRequest::FileDrain(drain) => Ok(changed(reply, Some(files.drain(drain.handle)?))),
        // The session answers this request when changes exist.
        FileRequest::FileChanges(_) => Ok(reply.done()),
        FileRequest::FileSet(set) => {
            set_attributes(files, set)?;
            Ok(reply.done())
        }
        FileRequest::FileAttributeSet(set) => {
            files.set_attribute(set.path, set.name, set.value)?;
            Ok(reply.done())
        }
        FileRequest::FileAttributes(attributes) => {
            let pairs = files.attributes(attributes.path)?;
            let bytes: usize = pairs.iter().map(|(name, value)| name.len() + value.len() + 16).sum();
            let attributes = Blobs(pairs.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect());
            Ok(reply.body(&FileAttributeList { attributes }, 64 + bytes))
        }
        FileRequest::FileLink(link) => {
            match link.hard.unwrap_or(false) {
                true => files.link(link.target, link.path)?,
                false => files.symlink(link.target, link.path)?,
            }
            Ok(reply.done())
        }
        FileRequest::FileReadlink(link) => {
            let target = files.readlink(link.path)?;
            Ok(reply.body(&LinkTarget { target: &target }, 64 + target.len()))
        }
    }
}

fn most(length: u64) -> usize {
    usize::try_from(length.min(MAX_READ_BYTES)).unwrap_or(0)
}

fn open_file(files: &Files, open: &FileOpen<'_>) -> Result<(HandleId, u64), Error> {
    let options = |truncate| OpenOptions { write: true, truncate, append: !truncate, mode: open.mode };
    Ok(match open.r#for {
        Purpose::Read => files.open(open.path, OpenOptions::default())?,
        Purpose::Write => files.open(open.path, options(true))?,
        Purpose::Append => files.open(open.path, options(false))?,
        Purpose::Export => (files.open_archive(open.path, ArchiveUse::Export)?, 0),
        Purpose::Import => {
            let keeps_owners = open.keep_owners.unwrap_or(false);
            (files.open_archive(open.path, ArchiveUse::Import { keeps_owners })?, 0)
        }
    })
}

fn set_attributes(files: &Files, set: &FileSet<'_>) -> Result<(), Error> {
    let follow = set.follow.unwrap_or(true);
    if let Some(owner) = set.owner {
        files.chown(set.path, convert::owner(owner), follow)?;
    }
    if let Some(mode) = set.mode {
        files.chmod(set.path, mode, follow)?;
    }
    if set.atime_us.is_some() || set.mtime_us.is_some() {
        let ns = |us: Option<i64>| us.map(|us| us.saturating_mul(1_000));
        files.utimes(set.path, ns(set.atime_us), ns(set.mtime_us), follow)?;
    }
    Ok(())
}

/// Encodes changes. `None` means that the watch was closed.
fn changed(reply: Reply, changes: Option<core::Changes>) -> Message {
    let ended = changes.is_none();
    let core::Changes { changes, overflow } = changes.unwrap_or_default();
    let type_of = |kind| match kind {
        ChangeKind::Name | ChangeKind::Renamed => ChangeType::Rename,
        ChangeKind::Content => ChangeType::Change,
        ChangeKind::Created => ChangeType::Create,
        ChangeKind::Removed => ChangeType::Remove,
        ChangeKind::Written => ChangeType::Write,
        ChangeKind::Attributes => ChangeType::Chmod,
    };
    let has_targets = changes.iter().any(|change| change.to.is_some());
    let body = ChangeList {
        names: changes.iter().map(|change| change.name.as_str()).collect(),
        types: changes.iter().map(|change| type_of(change.kind)).collect(),
        targets: has_targets.then(|| changes.iter().map(|change| change.to.as_deref().unwrap_or_default()).collect()),
        overflow,
        ended,
    };
    reply.body(&body, 64 + 64 * changes.len())
}

fn file_type(kind: core::FileType) -> FileType {
    match kind {
        core::FileType::File => FileType::File,
        core::FileType::Directory => FileType::Directory,
        core::FileType::Link => FileType::Symlink,
        core::FileType::Other => FileType::Other,
    }
}

fn status(stat: &core::FileStat) -> FileStatus {
    let us = |nanoseconds: i64| nanoseconds.div_euclid(1_000);
    FileStatus {
        r#type: file_type(stat.kind),
        mode: stat.mode,
        size: stat.size,
        ino: stat.ino,
        nlink: stat.links,
        uid: stat.uid,
        gid: stat.gid,
        atime_us: us(stat.atime_ns),
        mtime_us: us(stat.mtime_ns),
        ctime_us: us(stat.ctime_ns),
        birthtime_us: us(stat.birthtime_ns),
    }
}
