//! Tests that hostile archives are refused with a reason or unpacked within the directory. No
//! archive causes a panic or an endless loop.

use super::{kernel, state, unpack};
use crate::Kernel;
use crate::limits::Limits;
use coldframe_error::Error;
use proptest::prelude::*;
use tar::{EntryType, Header};

/// Returns the bytes of one entry. The fields may be invalid.
fn entry(kind: EntryType, path: &[u8], link: &[u8], data: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..path.len()].copy_from_slice(path);
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_size(data.len() as u64);
    header.set_cksum();
    let mut bytes = [&header.as_bytes()[..], data].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(path: &str, data: &[u8]) -> Vec<u8> {
    entry(EntryType::Regular, path.as_bytes(), b"", data)
}

fn link(kind: EntryType, path: &str, target: &str) -> Vec<u8> {
    entry(kind, path.as_bytes(), target.as_bytes(), b"")
}

fn ended(entries: &[Vec<u8>]) -> Vec<u8> {
    [&entries.concat()[..], &[0; 1_024]].concat()
}

fn reason(result: Result<(), Error>) -> String {
    match result {
        Err(Error::Archive { reason, .. }) => reason,
        Err(Error::File { errno, call, .. }) => format!("{errno} {call}"),
        other => format!("{other:?}"),
    }
}

/// Returns a header whose size field has arbitrary bytes.
fn with_size(size: &[u8; 12]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[0] = b'f';
    header.as_old_mut().size = *size;
    header.set_mode(0);
    header.set_mtime(0);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn pax(records: &[u8]) -> Vec<u8> {
    entry(EntryType::XHeader, b"x", b"", records)
}

fn pax_record(key: &str, value: &str) -> Vec<u8> {
    let mut out = Vec::new();
    super::super::pax::write(&mut out, key, value.as_bytes());
    out
}

#[test]
fn refuses_entries_that_lead_out_or_are_no_files() {
    use EntryType as E;
    let absolute = "it has an absolute name";
    let dots = "its name has '..' in it";
    let behind = "its parent is a link or a file, not a directory";
    let cases: Vec<(Vec<Vec<u8>>, &str)> = vec![
        (vec![file("/etc/passwd", b"x")], absolute),
        (vec![file("../evil", b"x")], dots),
        (vec![file("a/../../evil", b"x")], dots),
        (vec![file("a/..", b"x")], dots),
        (vec![pax(&pax_record("path", "/etc/evil")), file("f", b"x")], absolute),
        (vec![pax(&pax_record("GNU.sparse.name", "../evil")), file("f", b"x")], dots),
        (vec![entry(E::GNULongName, b"l", b"", b"../evil\0"), file("f", b"x")], dots),
        (vec![link(E::Symlink, "s", "/etc"), file("s/evil", b"x")], behind),
        (vec![link(E::Symlink, "s", "../../etc"), entry(E::Directory, b"s/d", b"", b"")], behind),
        (vec![link(E::Symlink, "s", "."), link(E::Symlink, "s/t", "x")], behind),
        (vec![link(E::Symlink, "s", "/etc"), entry(E::Directory, b"s", b"", b"")], "a file or a link has its name"),
        (vec![file("f", b"x"), file("f/g", b"x")], behind),
        (vec![link(E::Link, "h", "/etc/passwd")], absolute),
        (vec![link(E::Link, "h", "../../etc/passwd")], dots),
        (vec![link(E::Symlink, "s", "/etc"), link(E::Link, "h", "s/passwd")], behind),
        (vec![link(E::Link, "h", "none")], "ENOENT link"),
        (vec![link(E::Link, "h", "h")], "it is a hard link to itself"),
        (vec![entry(E::Directory, b"d", b"", b""), file("d", b"x")], "a directory has its name"),
        (vec![entry(E::Directory, b"d", b"", b""), link(E::Link, "h", "d")], "EPERM link"),
        (vec![file("", b"x")], "it has no name"),
        (vec![file(".", b"x")], "it has no name"),
        (vec![link(E::Symlink, "s", "")], "ENOENT symlink"),
        (vec![entry(E::Char, b"null", b"", b"")], "it is a device"),
        (vec![entry(E::Block, b"sda", b"", b"")], "it is a device"),
        (vec![entry(E::Fifo, b"pipe", b"", b"")], "it is a named pipe"),
        (vec![entry(E::new(b'Q'), b"q", b"", b"")], "its type 'Q' is unknown"),
        (vec![pax(b"99 path=short\n"), file("f", b"x")], "an extended header is malformed"),
        (vec![pax(&pax_record("path", &"x".repeat(300))), file("f", b"x")], "ENAMETOOLONG open"),
        (vec![pax(&pax_record("path", &"d/".repeat(2_100))), file("f", b"x")], "ENAMETOOLONG open"),
        (vec![with_size(b"777777777777")], "the archive ends too early: it was cut off, or has no end mark"),
        (vec![with_size(b"\x80\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff")], "its size is larger than a file can be"),
        (vec![with_size(b"-1\0\0\0\0\0\0\0\0\0\0")], "its size is no number"),
    ];
    for (entries, expected) in cases {
        let kernel = kernel();
        let embedder = kernel.embedder_files();
        let before = (state(&embedder, "/etc"), state(&embedder, "/home"));
        let result = unpack(&embedder, "/workspace/t", &ended(&entries), 100);
        assert_eq!(reason(result), expected);
        assert_eq!((state(&embedder, "/etc"), state(&embedder, "/home")), before, "{expected}");
        assert!(embedder.stat("/workspace/evil", false).is_err());
    }
}

#[test]
fn refuses_data_that_is_no_complete_archive() {
    let kernel = kernel();
    let embedder = kernel.embedder_files();
    let damaged = "a header's checksum is wrong: the data is no tar archive, or the archive is damaged";
    let early = "the archive ends too early: it was cut off, or has no end mark";
    let whole = ended(&[file("one", b"1"), file("two", &[2; 2_000])]);
    assert_eq!(reason(unpack(&embedder, "/tmp/t", &[b'x'; 5_000], 4_096)), damaged);
    assert_eq!(reason(unpack(&embedder, "/tmp/t", b"", 1)), early);
    for end in [1, 511, 512, 513, 1_024, 1_600, 2_500, 3_072, whole.len() - 1_024] {
        assert_eq!(reason(unpack(&embedder, "/tmp/t", &whole[..end], 300)), early, "{end}");
        let names: Vec<_> = embedder.list("/tmp/t").expect("listed").into_iter().map(|entry| entry.name).collect();
        let expected: &[&str] = if end < 513 {
            &[]
        } else if end < 3_584 {
            &["one"]
        } else {
            &["one", "two"]
        };
        assert_eq!(names, expected, "a part of a file does not stay: {end}");
        embedder.remove("/tmp/t", true).expect("removed");
    }
}

#[test]
fn repeated_entries_replace_the_earlier_and_write_through_no_link() {
    let kernel = kernel();
    let embedder = kernel.embedder_files();
    embedder.write("/tmp/victim", b"safe", false).expect("written");
    embedder.write("/tmp/t/old", b"old", false).expect("written");
    embedder.link("/tmp/t/old", "/tmp/other").expect("linked");
    let entries = [
        link(EntryType::Symlink, "f", "../victim"),
        file("f", b"first"),
        file("f", b"second"),
        file("old", b"new"),
        file("g", b"g"),
        link(EntryType::Link, "h", "g"),
        file("h", b"h"),
    ];
    unpack(&embedder, "/tmp/t", &ended(&entries), 512).expect("unpacked");
    let text = |path: &str| String::from_utf8(embedder.read(path, 0, 100).expect("read").0).expect("text");
    assert_eq!(
        ["/tmp/victim", "/tmp/t/f", "/tmp/t/old", "/tmp/other", "/tmp/t/g"].map(text),
        ["safe", "second", "new", "old", "g"]
    );
}

#[test]
fn keeps_the_limits_and_frees_entries_that_do_not_fit() {
    let kernel = Kernel::new(&Limits { filesystem_bytes: 100_000, inodes: 100, ..Limits::default() });
    let embedder = kernel.embedder_files();
    let result = unpack(&embedder, "/tmp/t", &ended(&[file("a", &[1; 60_000]), file("b", &[1; 60_000])]), 4_096);
    assert_eq!(reason(result), "ENOSPC write");
    assert_eq!(embedder.list("/tmp/t").expect("listed").len(), 1);
    assert_eq!(kernel.files.lock().used.bytes, 60_000);
    let many: Vec<_> = (0..200).map(|n| file(&format!("f{n}"), b"")).collect();
    assert_eq!(reason(unpack(&embedder, "/tmp/many", &ended(&many), 4_096)), "ENOSPC open");
    embedder.remove("/tmp/many", true).expect("removed");
    embedder.remove("/tmp/t", true).expect("removed");
    // A file of 1 TiB with two bytes uses the space of two chunks.
    let map = b"2\n0\n1\n1099511627775\n1\n";
    let mut data = map.to_vec();
    data.resize(512, 0);
    data.extend_from_slice(b"ab");
    let records = ["GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.realsize=1099511627776"];
    let records: Vec<u8> =
        records.iter().filter_map(|record| record.split_once('=')).flat_map(|(key, value)| pax_record(key, value)).collect();
    unpack(&embedder, "/tmp", &ended(&[pax(&records), file("huge", &data)]), 4_096).expect("unpacked");
    assert_eq!(embedder.stat("/tmp/huge", true).expect("the file exists").size, 1 << 40);
}

#[test]
fn refuses_malformed_lists_of_parts() {
    let wrong = "its list of parts is wrong";
    let sparse = |real: &str, map: &str, data: &[u8]| {
        let mut records = pax_record("GNU.sparse.size", real);
        records.extend(pax_record("GNU.sparse.map", map));
        ended(&[pax(&records), file("f", data)])
    };
    let one = |real: &str, text: &str| {
        let mut records = pax_record("GNU.sparse.major", "1");
        records.extend(pax_record("GNU.sparse.minor", "0"));
        records.extend(pax_record("GNU.sparse.realsize", real));
        let mut data = text.as_bytes().to_vec();
        data.resize(512, b'x');
        ended(&[pax(&records), file("f", &data)])
    };
    let cases = [
        sparse("10", "0,4,2,4", b"12345678"),
        sparse("10", "8,4", b"1234"),
        sparse("10", "0,4", b"12345"),
        sparse("10", "0,4,5", b"1234"),
        sparse("10", "18446744073709551615,4", b"1234"),
        one("10", "1\n0\n999\n"),
        one("10", "99999999999999999999999\n"),
        one("10", "18446744073709551615\n"),
        one("10", "x\n"),
    ];
    for archive in cases {
        let kernel = kernel();
        let result = unpack(&kernel.embedder_files(), "/tmp/t", &archive, 100);
        assert_eq!(reason(result), wrong);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// An archive that is damaged or cut at any byte changes nothing outside its directory and
    /// leaks nothing.
    #[test]
    fn damaged_archives_stay_in_their_directory(
        changes in prop::collection::vec((0_usize..8_000, any::<u8>(), any::<bool>()), 1..8),
        end in 0_usize..9_000,
        piece in 1_usize..2_000,
    ) {
        let records: Vec<u8> = [pax_record("path", "dir/renamed"), pax_record("mtime", "1.5")].concat();
        let mut bytes = ended(&[
            entry(EntryType::Directory, b"dir/", b"", b""),
            file("dir/a", &[1; 700]),
            pax(&records),
            file("x", &[2; 1_000]),
            link(EntryType::Symlink, "sym", "dir"),
            link(EntryType::Link, "hard", "dir/a"),
            entry(EntryType::GNULongName, b"l", b"", b"long/name\0"),
            file("y", b"y"),
        ]);
        for (at, value, fix) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
            if fix {
                // A corrected checksum makes the reader accept the changed header.
                let begin = at / 512 * 512;
                let mut header = Header::new_old();
                header.as_mut_bytes().copy_from_slice(&bytes[begin..begin + 512]);
                header.set_cksum();
                bytes[begin..begin + 512].copy_from_slice(header.as_bytes());
            }
        }
        bytes.truncate(end);
        let kernel = Kernel::new(&Limits { filesystem_bytes: 1 << 20, inodes: 1_000, ..Limits::default() });
        let embedder = kernel.embedder_files();
        let before = (state(&embedder, "/etc"), state(&embedder, "/home"), embedder.list("/tmp").expect("listed").len());
        let _ = unpack(&embedder, "/tmp/t", &bytes, piece);
        let after = (state(&embedder, "/etc"), state(&embedder, "/home"), embedder.list("/tmp").expect("listed").len());
        prop_assert_eq!(after, (before.0, before.1, before.2 + 1));
        embedder.remove("/tmp/t", true).expect("removed");
        let used = kernel.files.lock().used;
        prop_assert_eq!((used.bytes, used.inodes), (0, 0), "all space is freed");
    }
}
