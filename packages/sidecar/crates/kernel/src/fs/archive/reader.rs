//! Splits the bytes of an archive into entries and their data. The bytes arrive in pieces of any
//! length. Every number in an archive is checked.
//!
//! ```text
//! header ─┬─► extended header, long name ─► its data ──────────► header
//!         ├─► (GNU's own format) more of the list of parts ─┬─► data ─► padding ─► header
//!         ├─► (pax, version 1.0) the list of parts ─────────┘
//!         └─► a block of zeros: the end
//! ```
//! Next: `unpack.rs`, which puts an entry into the tree.

use super::super::user::Owner;
use super::pax::{self, Records};
use super::sparse::{Map, Parts};
use super::{BLOCK, Refusal, padding};
use tar::{EntryType, GnuExtSparseHeader, Header};

/// The maximum size of one extended header or long name, in bytes.
const MOST_META: u64 = 1 << 20;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
    Symlink,
    HardLink,
}

/// An archive entry whose headers have been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    pub(super) path: Vec<u8>,
    pub(super) link: Vec<u8>,
    pub(super) mode: u32,
    /// The owner. `None` if no file can have the owner.
    pub(super) owner: Option<Owner>,
    /// The time of the last change, in nanoseconds since 1970.
    pub(super) mtime: i64,
    /// The size of a file in bytes.
    pub(super) size: u64,
    /// The names and values of extended attributes.
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Receives the entries of an archive and the data of each entry.
pub(super) trait Sink {
    fn begin(&mut self, entry: &Entry) -> Result<(), Failed>;
    /// Receives bytes of the file and their offset in the file. The offsets are in ascending order.
    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Failed>;
    fn end(&mut self, entry: &Entry) -> Result<(), Failed>;
}

/// The reason why an import stops.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fs) enum Failed {
    /// The archive is malformed.
    Archive(Refusal),
    /// A filesystem call failed: the error, the call's name and the path.
    File(coldframe_error::Errno, &'static str, Vec<u8>),
}

/// Reads an archive that is pushed in pieces.
#[derive(Default)]
pub(super) struct Reader {
    block: Vec<u8>,
    state: State,
    records: Records,
    long_name: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
}

#[derive(Default)]
enum State {
    #[default]
    Header,
    Meta {
        kind: EntryType,
        left: usize,
        padding: usize,
        bytes: Vec<u8>,
    },
    /// Further headers with parts, in GNU's old format.
    MoreParts {
        entry: Box<Entry>,
        parts: Parts,
        stored: u64,
    },
    /// The list of parts before the data, in pax format.
    PartList {
        entry: Box<Entry>,
        map: Map,
        stored: u64,
        taken: u64,
    },
    Data {
        entry: Box<Entry>,
        parts: Option<Parts>,
        stored: u64,
        at: u64,
    },
    Padding(usize),
    End,
}

impl Reader {
    /// Reads the next bytes of the archive, and passes the entries and data in these bytes to
    /// `sink`.
    pub(super) fn push(&mut self, mut bytes: &[u8], sink: &mut impl Sink) -> Result<(), Failed> {
        while !bytes.is_empty() {
            bytes = match &mut self.state {
                // Bytes after the end mark have no meaning.
                State::End => return Ok(()),
                State::Data { entry, parts, stored, at } => {
                    let left = usize::try_from(*stored - *at).unwrap_or(usize::MAX);
                    let (place, room) = match parts {
                        None => (*at, left),
                        Some(parts) => match parts.place(*at) {
                            Some((place, room)) => (place, usize::try_from(room).unwrap_or(usize::MAX).min(left)),
                            None => return Err(wrong(&entry.path, "its list of parts does not match its data")),
                        },
                    };
                    let (data, rest) = bytes.split_at(room.min(bytes.len()));
                    sink.data(place, data)?;
                    *at += data.len() as u64;
                    self.end_if_complete(sink)?;
                    rest
                }
                State::Meta { left, bytes: held, .. } if *left > 0 => {
                    let (data, rest) = bytes.split_at((*left).min(bytes.len()));
                    held.extend_from_slice(data);
                    *left -= data.len();
                    self.end_meta_if_complete()?;
                    rest
                }
                State::Meta { padding: left, .. } | State::Padding(left) => {
                    let (skipped, rest) = bytes.split_at((*left).min(bytes.len()));
                    *left -= skipped.len();
                    self.end_meta_if_complete()?;
                    if matches!(self.state, State::Padding(0)) {
                        self.state = State::Header;
                    }
                    rest
                }
                State::Header | State::MoreParts { .. } | State::PartList { .. } => {
                    let (data, rest) = bytes.split_at((BLOCK - self.block.len()).min(bytes.len()));
                    self.block.extend_from_slice(data);
                    if self.block.len() == BLOCK {
                        let block = std::mem::take(&mut self.block);
                        self.take_block(&block, sink)?;
                    }
                    rest
                }
            };
        }
        Ok(())
    }

    /// Returns whether the end mark has been read.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.state, State::End)
    }

    fn take_block(&mut self, block: &[u8], sink: &mut impl Sink) -> Result<(), Failed> {
        match std::mem::take(&mut self.state) {
            State::MoreParts { entry, mut parts, stored } => {
                let mut more = GnuExtSparseHeader::new();
                more.as_mut_bytes().copy_from_slice(block);
                parts.add_headers(more.sparse(), entry.size).ok_or_else(|| wrong(&entry.path, WRONG_PARTS))?;
                if more.is_extended() {
                    self.state = State::MoreParts { entry, parts, stored };
                    return Ok(());
                }
                self.begin_data(entry, Some(parts), stored, sink)
            }
            State::PartList { entry, mut map, stored, taken } => {
                let taken = taken + BLOCK as u64;
                let is_complete = map.take(block).ok_or_else(|| wrong(&entry.path, WRONG_PARTS))?;
                if taken > stored {
                    return Err(wrong(&entry.path, WRONG_PARTS));
                }
                if !is_complete {
                    self.state = State::PartList { entry, map, stored, taken };
                    return Ok(());
                }
                let parts = map.parts(entry.size).ok_or_else(|| wrong(&entry.path, WRONG_PARTS))?;
                self.begin_data(entry, Some(parts), stored - taken, sink)
            }
            _ if block.iter().all(|byte| *byte == 0) => {
                self.state = State::End;
                Ok(())
            }
            _ => self.take_header(Header::from_byte_slice(block), sink),
        }
    }

    fn take_header(&mut self, header: &Header, sink: &mut impl Sink) -> Result<(), Failed> {
        let name = header.path_bytes().into_owned();
        let mut summed = header.clone();
        summed.set_cksum();
        // The checksum field may contain no number. The comparison then fails too.
        if header.cksum().ok() != summed.cksum().ok() {
            return Err(wrong(b"", "a header's checksum is wrong: the data is no tar archive, or the archive is damaged"));
        }
        let size = header.entry_size().map_err(|_| wrong(&name, "its size is no number"))?;
        let kind = header.entry_type();
        if matches!(kind, EntryType::XHeader | EntryType::XGlobalHeader | EntryType::GNULongName | EntryType::GNULongLink) {
            let len = usize::try_from(size).ok().filter(|_| size <= MOST_META);
            let left = len.ok_or_else(|| wrong(&name, format!("its extended header is larger than {MOST_META} bytes")))?;
            self.state = State::Meta { kind, left, padding: padding(size), bytes: Vec::new() };
            return self.end_meta_if_complete();
        }
        let (records, long_name, long_link) = (std::mem::take(&mut self.records), self.long_name.take(), self.long_link.take());
        let kind = match kind {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => EntryKind::File,
            EntryType::Directory => EntryKind::Directory,
            EntryType::Symlink => EntryKind::Symlink,
            EntryType::Link => EntryKind::HardLink,
            EntryType::Char | EntryType::Block => return Err(wrong(&name, "it is a device")),
            EntryType::Fifo => return Err(wrong(&name, "it is a named pipe")),
            other => {
                return Err(wrong(&name, format!("its type {:?} is unknown", char::from(other.as_byte()))));
            }
        };
        let path = records.sparse.name.clone().or(records.path).or(long_name).unwrap_or(name);
        let mtime = match records.mtime {
            Some(mtime) => Some(mtime),
            None => header.mtime().ok().and_then(|seconds| i64::try_from(seconds).ok()?.checked_mul(1_000_000_000)),
        };
        let stored = if kind == EntryKind::File { records.size.unwrap_or(size) } else { 0 };
        // In the format before ustar, a directory is a file with a slash at the end of its name.
        let is_directory = kind == EntryKind::Directory || (kind == EntryKind::File && path.ends_with(b"/") && stored == 0);
        let entry = Box::new(Entry {
            kind: if is_directory { EntryKind::Directory } else { kind },
            mode: header.mode().map_err(|_| wrong(&path, "its mode is no number"))?,
            owner: owner(records.uid.or(header.uid().ok()), records.gid.or(header.gid().ok())),
            mtime: mtime.ok_or_else(|| wrong(&path, "its time is no number"))?,
            link: records.link.or(long_link).unwrap_or_else(|| header.link_name_bytes().unwrap_or_default().into_owned()),
            size: records.sparse.size.unwrap_or(stored),
            attributes: records.attributes,
            path,
        });
        if header.entry_type() == EntryType::GNUSparse {
            return self.take_gnu_sparse(header, entry, stored, sink);
        }
        if kind != EntryKind::File {
            return self.begin_data(entry, None, 0, sink);
        }
        match (records.sparse.major, records.sparse.minor, records.sparse.map) {
            (Some(1), Some(0), _) => {
                self.state = State::PartList { entry, map: Map::default(), stored, taken: 0 };
                Ok(())
            }
            (Some(_), ..) => Err(wrong(&entry.path, "the format of its list of holes is unknown")),
            (None, _, Some(numbers)) => {
                let parts = Parts::of_pairs(&numbers, entry.size).ok_or_else(|| wrong(&entry.path, WRONG_PARTS))?;
                self.begin_data(entry, Some(parts), stored, sink)
            }
            (None, _, None) => self.begin_data(entry, None, stored, sink),
        }
    }

    fn take_gnu_sparse(
        &mut self,
        header: &Header,
        mut entry: Box<Entry>,
        stored: u64,
        sink: &mut impl Sink,
    ) -> Result<(), Failed> {
        let refuse = || wrong(&entry.path, WRONG_PARTS);
        let gnu = header.as_gnu().ok_or_else(refuse)?;
        let size = gnu.real_size().map_err(|_| refuse())?;
        let mut parts = Parts::default();
        parts.add_headers(&gnu.sparse, size).ok_or_else(refuse)?;
        entry.size = size;
        if gnu.is_extended() {
            self.state = State::MoreParts { entry, parts, stored };
            return Ok(());
        }
        self.begin_data(entry, Some(parts), stored, sink)
    }

    fn begin_data(&mut self, entry: Box<Entry>, parts: Option<Parts>, stored: u64, sink: &mut impl Sink) -> Result<(), Failed> {
        if parts.as_ref().is_some_and(|parts| parts.total() != stored) {
            return Err(wrong(&entry.path, WRONG_PARTS));
        }
        if entry.size > i64::MAX as u64 {
            return Err(wrong(&entry.path, "its size is larger than a file can be"));
        }
        sink.begin(&entry)?;
        self.state = State::Data { entry, parts, stored, at: 0 };
        self.end_if_complete(sink)
    }

    fn end_if_complete(&mut self, sink: &mut impl Sink) -> Result<(), Failed> {
        let State::Data { entry, stored, at, .. } = &self.state else { return Ok(()) };
        if at < stored {
            return Ok(());
        }
        sink.end(entry)?;
        let left = padding(*stored);
        self.state = if left == 0 { State::Header } else { State::Padding(left) };
        Ok(())
    }

    fn end_meta_if_complete(&mut self) -> Result<(), Failed> {
        let State::Meta { kind, left: 0, padding: 0, bytes } = &mut self.state else { return Ok(()) };
        let (kind, mut bytes) = (*kind, std::mem::take(bytes));
        self.state = State::Header;
        match kind {
            EntryType::GNULongName | EntryType::GNULongLink => {
                bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
                let slot = if kind == EntryType::GNULongName { &mut self.long_name } else { &mut self.long_link };
                *slot = Some(bytes);
            }
            EntryType::XHeader => {
                self.records = pax::read(&bytes).ok_or_else(|| wrong(b"", "an extended header is malformed"))?;
            }
            // A global header has no records for a single file. Most global headers contain
            // comments.
            _ => {}
        }
        Ok(())
    }
}

const WRONG_PARTS: &str = "its list of parts is wrong";

fn owner(uid: Option<u64>, gid: Option<u64>) -> Option<Owner> {
    let id = |number: Option<u64>| u32::try_from(number?).ok().filter(|id| *id != u32::MAX);
    Some(Owner { uid: id(uid)?, gid: id(gid)? })
}

fn wrong(entry: &[u8], reason: impl Into<String>) -> Failed {
    Failed::Archive(Refusal::new(entry, reason))
}
