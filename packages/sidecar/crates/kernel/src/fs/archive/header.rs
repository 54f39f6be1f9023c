//! Writes the headers of an archive in ustar format. If values do not fit into a header, an
//! extended header in pax format precedes the header. Next: `export.rs`.

use super::super::user::{GUEST, Owner, ROOT_USER};
use super::super::user_attributes::UserAttributes;
use super::{BLOCK, padding, pax};
use tar::{EntryType, Header};

/// The metadata of one archive entry.
pub(super) struct Entry<'e> {
    pub(super) kind: EntryType,
    pub(super) path: &'e [u8],
    /// The target of a link. Empty for other entries.
    pub(super) link: &'e [u8],
    pub(super) mode: u32,
    pub(super) owner: Owner,
    /// The time of the last change, in nanoseconds since 1970.
    pub(super) mtime: i64,
    /// The number of bytes of data that follow the header.
    pub(super) size: u64,
    /// The length of a sparse file. `None` for other files.
    pub(super) real_size: Option<u64>,
    pub(super) attributes: UserAttributes,
}

/// The largest size that fits into a header's octal digits.
const MAX_OCTAL: u64 = 0o77_777_777_777;
const NANOSECONDS: i64 = 1_000_000_000;

/// Writes an entry's headers at the end of `out`.
pub(super) fn write(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let mut records = Vec::new();
    let mut header = Header::new_ustar();
    let old = header.as_old_mut();
    if entry.real_size.is_some() || !fill(&mut old.name, entry.path) {
        let key = if entry.real_size.is_some() { "GNU.sparse.name" } else { "path" };
        pax::write(&mut records, key, entry.path);
    }
    if !fill(&mut old.linkname, entry.link) {
        pax::write(&mut records, "linkpath", entry.link);
    }
    if entry.mtime % NANOSECONDS != 0 || entry.mtime < 0 {
        pax::write(&mut records, "mtime", pax::seconds(entry.mtime).as_bytes());
    }
    if entry.size > MAX_OCTAL {
        pax::write(&mut records, "size", entry.size.to_string().as_bytes());
    }
    if let Some(size) = entry.real_size {
        fill(&mut header.as_old_mut().name, b"GNUSparseFile.0/file");
        pax::write(&mut records, "GNU.sparse.major", b"1");
        pax::write(&mut records, "GNU.sparse.minor", b"0");
        pax::write(&mut records, "GNU.sparse.realsize", size.to_string().as_bytes());
    }
    for (name, value) in entry.attributes.pairs() {
        // A key ends at the first `=`, so a name with this byte cannot be written.
        if !name.contains(&b'=') {
            pax::write(&mut records, [pax::ATTRIBUTE, name].concat(), value);
        }
    }
    if !records.is_empty() {
        let mut extended = Header::new_ustar();
        fill(&mut extended.as_old_mut().name, b"PaxHeaders/entry");
        finish(&mut extended, EntryType::XHeader, 0o644, Owner::ROOT, 0, records.len() as u64);
        out.extend_from_slice(extended.as_bytes());
        out.extend_from_slice(&records);
        out.resize(out.len() + padding(records.len() as u64), 0);
    }
    let seconds = u64::try_from(entry.mtime.div_euclid(NANOSECONDS)).unwrap_or(0);
    // The names are short, so the calls cannot fail.
    let _ = header.set_username(name_of(entry.owner.uid));
    let _ = header.set_groupname(name_of(entry.owner.gid));
    finish(&mut header, entry.kind, entry.mode, entry.owner, seconds, entry.size.min(MAX_OCTAL));
    out.extend_from_slice(header.as_bytes());
}

/// Appends the end mark of an archive to `out`.
pub(super) fn write_end(out: &mut Vec<u8>) {
    out.resize(out.len() + 2 * BLOCK, 0);
}

fn finish(header: &mut Header, kind: EntryType, mode: u32, owner: Owner, mtime: u64, size: u64) {
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(owner.uid.into());
    header.set_gid(owner.gid.into());
    header.set_mtime(mtime);
    header.set_size(size);
    header.set_cksum();
}

/// Returns the name of a user or of a group in the base tree, or no name.
fn name_of(id: u32) -> &'static str {
    match id {
        ROOT_USER => "root",
        GUEST => "user",
        _ => "",
    }
}

/// Copies as much of `text` as fits into `field`. Returns whether the whole text fits.
fn fill(field: &mut [u8; 100], text: &[u8]) -> bool {
    let len = text.len().min(field.len());
    field.fill(0);
    field[..len].copy_from_slice(&text[..len]);
    text.len() <= field.len()
}
