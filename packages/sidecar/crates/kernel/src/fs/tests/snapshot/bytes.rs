//! Tests of snapshots that were encoded and decoded. `oracle.rs` tests random trees.

use super::super::watching::watch;
use super::*;
use coldframe_abi::system_calls::FileCall;

fn bytes_of(guest: &Guest) -> Vec<u8> {
    let mut written = Vec::new();
    let _ = snapshot(&[guest]).rewritten(|bytes| {
        written.clone_from(&bytes);
        bytes
    });
    written
}

#[test]
fn restores_files_byte_for_byte_with_their_holes() {
    let mut guest = Guest::new(Limits::default());
    let all: Vec<u8> = (0..200_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    guest.write_file("whole", &all);
    let fd = open(&mut guest, "holes", READ_WRITE_CREATE);
    for at in [70_000_i64, 1 << 40] {
        assert_eq!(guest.plain(FileCall::Write, &[fd.into(), Arg::Bytes(b"here"), at.into()]), 4);
    }
    guest.plain(FileCall::Ftruncate, &[fd.into(), ((1_i64 << 40) + 1_000_000).into()]);
    let written = bytes_of(&guest).len();
    assert!(written < 300_000, "{written}: holes are not stored");
    let mut copy = by_bytes(&guest);
    let all_of = |guest: &mut Guest| guest.stat("/workspace/holes", true).expect("the file exists");
    assert_eq!(all_of(&mut copy), all_of(&mut guest), "size, blocks and times too");
    assert_eq!(copy.read_file("whole").expect("the file exists"), all);
    assert_eq!(used(&copy), used(&guest));
    for (at, wanted) in [(69_998_i64, b"\0\0here\0\0"), ((1 << 40) - 2, b"\0\0here\0\0")] {
        let (count, bytes) = copy.sys(FileCall::Read, &[fd.into(), Arg::Room(8), at.into()]);
        assert_eq!((count, &bytes[..]), (8, &wanted[..]));
    }
}

#[test]
fn equal_files_make_equal_bytes() {
    let mut guest = Guest::new(Limits::default());
    for n in 0..300 {
        guest.write_file(&format!("/tmp/file{n}"), &[n as u8; 100]);
    }
    guest.plain(FileCall::Symlink, &["/tmp/file1".into(), "/tmp/link".into()]);
    guest.plain(FileCall::Link, &["/tmp/file1".into(), "/tmp/second".into()]);
    guest.plain(FileCall::Unlink, &["/tmp/file2".into()]);
    open(&mut guest, "/dev/null", 2);
    watch(&mut guest, "/tmp", 1);
    let written = bytes_of(&guest);
    assert_eq!(bytes_of(&by_bytes(&guest)), written);
    assert_eq!(bytes_of(&copy(&guest)), written);
}

#[test]
fn restores_mounts_descriptors_and_watches_from_bytes() {
    let root = std::env::temp_dir().join(format!("coldframe-saved-{}-bytes", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    std::fs::create_dir_all(root.join("dir")).expect("a temporary directory");
    std::fs::write(root.join("dir/file"), "0123456789").expect("a file");
    let mount =
        |path: &str, overlay| MountOptions { guest_path: path.to_owned(), host_path: root.clone(), read_only: false, overlay };
    let options = RestoreOptions {
        mounts: vec![mount("/m", false), mount("/p", true), mount("/m/dir/inner", false)],
        file_systems: vec![FileSystemOptions { guest_path: "/app".to_owned(), number: 3, read_only: true }],
        ..RestoreOptions::default()
    };
    let kernel = Arc::new(Kernel::new(&options.limits));
    kernel.embedder_files().furnish(&options.mounts, &options.file_systems, &[], "/workspace").expect("mounted");
    let mut guest = Guest::of(&kernel, "/m/dir");
    guest.write_file("/p/dir/own", b"own");
    guest.plain(FileCall::Unlink, &["/p/dir/file".into()]);
    let (file, proc) = (open(&mut guest, "/m/dir/inner/dir/file", 0), open(&mut guest, "/proc/stat", 0));
    let listings = ["/m", "/p/dir", "/tmp", "/proc"].map(|path| open(&mut guest, path, DIRECTORY));
    assert_eq!(read(&mut guest, file, 3).expect("the file exists"), b"012");
    for listing in listings {
        rest_of(&mut guest, listing, 259, true).expect("names");
    }
    watch(&mut guest, "/m/dir", 0);
    watch(&mut guest, "/p/dir", 0);
    let gone = open(&mut guest, "/tmp/gone", READ_WRITE_CREATE);
    write(&mut guest, gone, b"gone");
    guest.plain(FileCall::Unlink, &["/tmp/gone".into()]);
    let saved = snapshot(&[&guest]).rewritten(|bytes| bytes).expect("sound");
    let mut copy = options.only(&saved);
    assert_eq!(copy.program.process().kernel.files.lock().watches(), 2);
    assert_eq!(read(&mut copy, file, 3).expect("the file exists"), b"345");
    assert_eq!(read(&mut copy, proc, 9_999), read(&mut guest, proc, 9_999));
    for listing in listings {
        let left = rest_of(&mut guest, listing, 259, false).expect("names");
        assert_eq!(rest_of(&mut copy, listing, 259, false).expect("names"), left);
    }
    assert_eq!(copy.sys(FileCall::Read, &[gone.into(), Arg::Room(4), 0.into()]).1, b"gone");
    assert_eq!(copy.read_file("/p/dir/own").expect("the file exists"), b"own");
    assert_eq!(copy.read_file("/p/dir/file"), Err(-2));
    assert_eq!(copy.read_file("inner/dir/file").expect("its working directory is /m/dir"), b"0123456789");
    let _ = std::fs::remove_dir_all(&root);
}
