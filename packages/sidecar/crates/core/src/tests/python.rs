//! Tests of programs in Python that need no Python: the missing package, and a second module. The
//! stand-in for Python is a copy of the image for `node`, whose module has another name.

use super::children::parent;
use super::*;
use crate::installation::ImageKind;
use crate::options::Language;
use coldframe_memory::{HEADER_LEN, Header};

const MISSING: &str = "Python is not installed: add the package @coldframe/python to your app's dependencies";

/// A folder with a stand-in for Python. The folder is removed after the test.
pub(super) struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("coldframe-python-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("root/usr/lib/python3.13")).expect("a temporary directory");
        std::fs::write(folder.join("root/usr/lib/python3.13/os.py"), "name = 'posix'").expect("a file");
        let images = options().image_dir;
        let mut image = std::fs::read(images.join("guest.image")).expect("the guest image");
        let header = Header::decode(&image[..HEADER_LEN], image.len() as u64).expect("a header");
        std::fs::copy(images.join(&header.module_file), folder.join("python-0123456789abcdef.cwasm")).expect("a module");
        let header = Header { module_file: "python-0123456789abcdef.cwasm".to_owned(), ..header };
        image[..HEADER_LEN].copy_from_slice(&header.encode().expect("a header"));
        std::fs::write(folder.join("python.image"), image).expect("an image");
        Self(folder)
    }

    pub(super) fn core(&self) -> Core {
        Core::open(&CoreOptions { python_dir: Some(self.0.clone()), ..options() }).expect("a core")
    }
}

pub(super) fn python(mode: Mode, code: &str) -> ProcessOptions {
    ProcessOptions { mode, language: Language::Python, ..exec(code) }
}

fn refused(runtime: &Runtime, options: ProcessOptions) -> Error {
    let (sink, _events) = TestSink::new();
    let Err(error) = runtime.start(options, sink, Dispatch::Worker) else { panic!("Python is missing") };
    error
}

#[test]
fn without_the_package_the_embedder_receives_an_error_with_its_name() {
    let runtime = runtime(&core());
    let command = |name: &str| ProcessOptions { mode: Mode::Command, ..exec(name) };
    for options in [
        python(Mode::Exec, "1"),
        python(Mode::Run, "1"),
        python(Mode::File, "/workspace/a.py"),
        python(Mode::Resident, ""),
        command("python3"),
        command("python"),
        command("pip"),
    ] {
        let error = refused(&runtime, options);
        assert_eq!((error.code(), error.to_string()), ("ERR_PYTHON_MISSING", MISSING.to_owned()));
        assert_eq!(error.facts(), [("package", coldframe_error::Fact::Text("@coldframe/python".to_owned()))]);
    }
    assert_eq!(runtime.inner().counts(), (0, 0, 0), "no process is left");
}

#[test]
fn without_the_package_a_child_says_so_and_exits_with_127() {
    let runtime = runtime(&core());
    let code = "for (const name of ['python3', '/usr/bin/python', 'pip3']) {
        const { status, stdout, stderr } = spawnSync(name, ['-c', 'print(1)'], { encoding: 'utf8' });
        console.log(status, JSON.stringify(stdout), stderr.trim());
    }";
    let outcome = outcome(&runtime, parent(code));
    let line = |name: &str| format!("127 \"\" {name}: {MISSING}\n");
    let expected = ["python3", "/usr/bin/python", "/usr/bin/python3"].map(line).concat();
    assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), (expected, String::new()));
}

#[test]
fn an_image_of_another_module_runs_beside_the_image_for_node() {
    let folder = Folder::new("beside");
    let core = folder.core();
    let node = core.installation().node().clone();
    let python_factory = core.installation().factory(ImageKind::Python).expect("the image");
    assert_ne!(python_factory.image().header().module_file, node.image().header().module_file);
    let runtime = runtime(&core);
    let names = "console.log(process.argv0, require('fs').readlinkSync('/proc/self/exe'))";
    let from_child = format!("console.log(spawnSync('python3', ['-e', {names:?}]).stdout.toString().trim())");
    for (options, expected) in [
        (python(Mode::Exec, "console.log(process.argv0)"), "python3\n"),
        (parent(&from_child), "python3 /usr/bin/python3\n"),
        (exec("console.log((await import('node:fs')).readFileSync('/usr/lib/python3.13/os.py', 'utf8'))"), "name = 'posix'\n"),
    ] {
        let outcome = outcome(&runtime, options);
        assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), (expected.to_owned(), String::new()));
    }
    assert!(python_factory.image().pool().waiting() > 0, "its slots are kept in its own pool");
}

#[test]
fn a_loop_and_a_large_memory_in_another_module_are_ended() {
    let folder = Folder::new("limits");
    let runtime = runtime(&folder.core());
    let endless = ProcessOptions { timeout: Some(Duration::from_millis(50)), ..python(Mode::Exec, "for (;;);") };
    assert_eq!(code(&outcome(&runtime, endless)), Some("ERR_TIMEOUT"));
    let large = python(Mode::Exec, "const all = []; for (;;) all.push('x'.repeat(1e6) + all.length)");
    assert_eq!(code(&outcome(&runtime, large)), Some("ERR_MEMORY_LIMIT"));
}
