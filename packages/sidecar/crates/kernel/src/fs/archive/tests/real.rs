//! Exchanges archives with the real `tar`, in both directions. The tests run the command `tar` of
//! the host machine.

use super::{kernel, pack, state, unpack};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A host directory that is removed after the test.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str) -> Folder {
    let path = std::env::temp_dir().join(format!("coldframe-tar-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    Folder(path)
}

/// Makes a tree with links, a sparse file and unusual modes. `long` adds names of more than 100
/// bytes, which older formats cannot store. Times are whole seconds, because not every format
/// stores fractions.
fn fill(root: &Path, long: bool) {
    std::fs::create_dir_all(root.join("dir/deep")).expect("made");
    std::fs::write(root.join("dir/plain"), b"plain").expect("written");
    std::fs::write(root.join("dir/deep/empty"), b"").expect("written");
    std::fs::write(root.join("block"), [1; 512]).expect("written");
    std::fs::write(root.join("large"), vec![3; 300_000]).expect("written");
    std::fs::hard_link(root.join("large"), root.join("zlink")).expect("linked");
    symlink("dir/plain", root.join("sym")).expect("linked");
    let sparse = std::fs::File::create(root.join("sparse")).expect("made");
    for part in 0..40 {
        sparse.write_all_at(&[part as u8 + 1; 4_096], part * 200_000).expect("written");
    }
    sparse.set_len(9_000_000).expect("longer");
    if long {
        let name = "n".repeat(180);
        std::fs::create_dir_all(root.join(&name)).expect("made");
        std::fs::write(root.join(&name).join("ü".repeat(100)), b"long").expect("written");
        symlink("t".repeat(150), root.join("longlink")).expect("linked");
    }
    std::fs::set_permissions(root.join("dir/plain"), PermissionsExt::from_mode(0o751)).expect("mode");
    std::fs::set_permissions(root.join("dir/deep"), PermissionsExt::from_mode(0o500)).expect("mode");
    let touched = Command::new("find").arg(root).args(["-exec", "touch", "-h", "-d", "@1234567890", "{}", "+"]).status();
    assert!(touched.expect("find runs").success());
}

#[test]
fn reads_every_format_of_tar() {
    for (format, sparse) in [("v7", false), ("ustar", false), ("gnu", false), ("gnu", true), ("pax", false), ("pax", true)] {
        let source = folder(&format!("read-{format}-{sparse}"));
        fill(&source.0, format == "gnu" || format == "pax");
        let mut command = Command::new("tar");
        command.arg("-C").arg(&source.0).arg(format!("--format={format}")).args(sparse.then_some("-S")).args(["-cf", "-", "."]);
        let packed = command.output().expect("tar runs");
        assert!(packed.status.success(), "{format}: {}", String::from_utf8_lossy(&packed.stderr));
        let kernel = kernel();
        let embedder = kernel.embedder_files();
        unpack(&embedder, "/workspace/t", &packed.stdout, 700).expect(format);
        // The expected state is read from the source folder through a mount.
        let options =
            crate::MountOptions { guest_path: "/mnt".to_owned(), host_path: source.0.clone(), read_only: true, overlay: false };
        kernel.files.lock().add_mount(&options).expect("mounted");
        let expected = state(&embedder, "/mnt").join("\n").replace("/mnt/", "/workspace/t/");
        assert_eq!(state(&embedder, "/workspace/t").join("\n"), expected, "{format}, sparse: {sparse}");
        let used = kernel.files.lock().used.bytes;
        assert!(!sparse || used < 4_000_000, "holes stay holes: {used}");
        std::fs::set_permissions(source.0.join("dir/deep"), PermissionsExt::from_mode(0o700)).expect("mode");
    }
}

#[test]
fn reads_every_version_of_gnu_sparse_records() {
    for version in ["0.0", "0.1", "1.0"] {
        let source = folder(&format!("sparse-{version}"));
        fill(&source.0, false);
        let mut command = Command::new("tar");
        command.arg("-C").arg(&source.0).args([
            "--format=pax",
            "-S",
            &format!("--sparse-version={version}"),
            "-cf",
            "-",
            "sparse",
        ]);
        let packed = command.output().expect("tar runs");
        let kernel = kernel();
        let embedder = kernel.embedder_files();
        unpack(&embedder, "/tmp", &packed.stdout, 10_000).expect(version);
        let (bytes, size) = embedder.read("/tmp/sparse", 0, 16 << 20).expect("read");
        assert_eq!((size, bytes), (9_000_000, std::fs::read(source.0.join("sparse")).expect("read")), "{version}");
        std::fs::set_permissions(source.0.join("dir/deep"), PermissionsExt::from_mode(0o700)).expect("mode");
    }
}

#[test]
fn tar_reads_exported_archives() {
    let kernel = kernel();
    let embedder = kernel.embedder_files();
    let long = format!("/workspace/t/{}/{}", "n".repeat(180), "ü".repeat(100));
    embedder.write_with_mode(&long, b"long", false, 0o640).expect("written");
    embedder.write("/workspace/t/a/f", &[5; 100_000], false).expect("written");
    embedder.utimes("/workspace/t/a/f", Some(0), Some(1_234_567_890_123_456_789), true).expect("times");
    embedder.link("/workspace/t/a/f", "/workspace/t/second").expect("linked");
    embedder.symlink("../outside", "/workspace/t/sym").expect("linked");
    let (file, _) = embedder.open("/workspace/t/sparse", crate::OpenOptions { write: true, ..Default::default() }).expect("made");
    for part in 0..10 {
        embedder.write_open(&file, part * 1_000_000, &[9; 10]).expect("written");
    }
    embedder.close(&file);
    let target = folder("written");
    let archive = target.0.join("archive.tar");
    std::fs::write(&archive, pack(&embedder, "/workspace/t")).expect("written");
    let unpacked = target.0.join("t");
    std::fs::create_dir(&unpacked).expect("made");
    let run = Command::new("tar").arg("-C").arg(&unpacked).arg("-xpf").arg(&archive).output().expect("tar runs");
    assert!(run.status.success() && run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    let long = unpacked.join("n".repeat(180)).join("ü".repeat(100));
    assert_eq!(std::fs::metadata(&long).expect("the file exists").mode() & 0o777, 0o640);
    let first = std::fs::metadata(unpacked.join("a/f")).expect("the file exists");
    assert_eq!((first.mtime(), first.mtime_nsec()), (1_234_567_890, 123_456_789));
    assert_eq!(first.ino(), std::fs::metadata(unpacked.join("second")).expect("the file exists").ino());
    assert_eq!(std::fs::read_link(unpacked.join("sym")).expect("a link"), Path::new("../outside"));
    let (bytes, _) = embedder.read("/workspace/t/sparse", 0, 16 << 20).expect("read");
    assert_eq!(std::fs::read(unpacked.join("sparse")).expect("read"), bytes);
}
