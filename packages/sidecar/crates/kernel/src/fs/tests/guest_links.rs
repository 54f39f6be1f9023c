//! Tests that a link of a program leads no call of the embedder into a mount.

use super::super::super::Kernel;
use super::Guest;
use crate::fs::options::MountOptions;
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Error;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

/// A temporary folder with the files `a/file` and `b/file`. The folder is removed after the test.
struct Host(PathBuf);

impl Drop for Host {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Host {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("coldframe-links-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["a", "b"] {
            std::fs::create_dir_all(root.join(folder)).expect("a temporary folder");
            std::fs::write(root.join(folder).join("file"), folder).expect("a file");
        }
        Self(root)
    }

    fn mount(&self, guest_path: &str, folder: &str, read_only: bool) -> MountOptions {
        MountOptions { guest_path: guest_path.to_owned(), host_path: self.0.join(folder), read_only, overlay: false }
    }
}

fn kernel(mounts: &[MountOptions]) -> Arc<Kernel> {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    kernel.embedder_files().furnish(mounts, &[], &[], "/workspace").expect("furnished");
    kernel
}

/// Returns the text of a file, or the link and the mount of the refusal.
fn read(kernel: &Kernel, path: &str) -> Result<String, (String, String)> {
    match kernel.embedder_files().read(path, 0, 100) {
        Ok((bytes, _)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(Error::LinkToMount { link, mount, .. }) => Err((link, mount)),
        Err(other) => panic!("{path}: {other}"),
    }
}

fn refused(link: &str, mount: &str) -> Result<String, (String, String)> {
    Err((link.to_owned(), mount.to_owned()))
}

#[test]
fn a_link_leads_the_embedder_only_within_its_tree() {
    let host = Host::new("trees");
    let kernel = kernel(&[host.mount("/a", "a", false), host.mount("/b", "b", false), host.mount("/a/inner", "b", false)]);
    let mut guest = Guest::of(&kernel, "/workspace");
    let links = [
        ("/a/file", "to-a"),
        ("/b/../a/./file", "around"),
        ("/proc/self/root/a/file", "through-proc"),
        ("to-a", "twice"),
        ("/", "root"),
        ("/tmp", "plain"),
    ];
    for (target, name) in links {
        assert_eq!(guest.plain(FileCall::Symlink, &[target.into(), name.into()]), 0, "{name}");
    }
    assert_eq!(guest.read_file("to-a"), Ok(b"a".to_vec()), "the program itself follows the link");
    assert_eq!(read(&kernel, "/workspace/to-a"), refused("/workspace/to-a", "/a"));
    assert_eq!(read(&kernel, "/workspace/around"), refused("/workspace/around", "/b"));
    assert_eq!(read(&kernel, "/workspace/twice"), refused("/workspace/twice", "/a"));
    assert_eq!(read(&kernel, "/workspace/root/a/inner/file"), refused("/workspace/root", "/a"));
    assert_eq!(guest.plain(FileCall::Symlink, &["file".into(), "/a/own".into()]), 0);
    assert_eq!(read(&kernel, "/a/own"), Ok("a".to_owned()));
    assert_eq!(guest.plain(FileCall::Symlink, &["inner/file".into(), "/a/into".into()]), 0);
    assert_eq!(read(&kernel, "/a/into"), refused("/a/into", "/a/inner"));
    kernel.embedder_files().write("/tmp/file", b"memory", false).expect("written");
    assert_eq!(read(&kernel, "/workspace/plain/file"), Ok("memory".to_owned()));
    // The check needs no budget: the embedder's own paths lead anywhere.
    assert_eq!(read(&kernel, "/a/inner/file"), Ok("b".to_owned()));
}

#[test]
fn links_through_proc_count_as_links_of_programs() {
    let host = Host::new("proc");
    let kernel = kernel(&[host.mount("/a", "a", false)]);
    let mut guest = Guest::of(&kernel, "/a");
    let fd = guest.plain(FileCall::Open, &["file".into(), 0.into(), 0.into()]);
    let pid = guest.program.pid();
    for link in ["cwd/file", "root/a/file", &format!("fd/{fd}")] {
        let refusal = read(&kernel, &format!("/proc/{pid}/{link}")).expect_err("a refusal");
        assert_eq!(refusal.1, "/a", "{link}");
    }
    assert!(kernel.embedder_files().read(&format!("/proc/{pid}/{}", "root/etc/hosts"), 0, 1).is_ok());
}

#[test]
fn a_link_in_a_read_only_folder_leads_to_another_mount_unless_programs_can_write_in_the_folder() {
    let host = Host::new("read-only");
    symlink(host.0.join("b/file"), host.0.join("a/across")).expect("a link");
    let alone = kernel(&[host.mount("/a", "a", true), host.mount("/b", "b", false)]);
    assert_eq!(read(&alone, "/a/across"), Ok("b".to_owned()));
    for writable in ["a", ""] {
        let twice = kernel(&[host.mount("/a", "a", true), host.mount("/b", "b", true), host.mount("/w", writable, false)]);
        assert_eq!(read(&twice, "/a/across"), refused("/a/across", "/b"), "{writable}");
    }
}
