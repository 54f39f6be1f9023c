//! Builds two images of one guest in one folder. Both images name one module, and a build removes
//! only modules that no image in the folder names.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use std::path::{Path, PathBuf};

use coldframe_core::{Core, CoreOptions, HEADER_LEN, Header};
use common::GUEST;

/// A folder that is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coldframe-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn build(&self, text: &str, inputs: &[PathBuf], name: &str) -> Header {
        coldframe_imager::build(
            &wat::parse_str(text).expect("the guest's text"),
            inputs,
            &self.0,
            name,
            coldframe_imager::GuestKind::Node,
        )
        .expect("an image");
        let file = std::fs::read(self.0.join(format!("{name}.image"))).expect("the image");
        Header::decode(&file[..HEADER_LEN], file.len() as u64).expect("a header")
    }

    /// Returns the names of the modules in the folder, sorted.
    fn modules(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.retain(|name| name.ends_with(".cwasm"));
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a guest whose memory has one page more if the input `x` exists.
fn growing() -> String {
    let import = r#"(import "coldframe" "build_file" (func $build_file (param i32 i32 i32 i32) (result i32)))
  (memory"#;
    let boot = r#"(func (export "cf_boot") (result i32) (i32.store8 (i32.const 512) (i32.const 120))
    (if (i32.ge_s (call $build_file (i32.const 512) (i32.const 1) (i32.const 0) (i32.const 0)) (i32.const 0))
      (then (drop (memory.grow (i32.const 1)))))
    (i32.const 0))"#;
    let text = GUEST.replacen("(memory", import, 1).replacen(r#"(func (export "cf_boot") (result i32) (i32.const 0))"#, boot, 1);
    assert!(text.contains("$build_file") && text.contains("(drop (memory.grow (i32.const 1)))"));
    text
}

fn open(folder: &Path) -> Result<Core, String> {
    let options = CoreOptions {
        image_dir: folder.to_owned(),
        python_dir: None,
        workers: 1,
        warm_slots: 1,
        spin: std::time::Duration::ZERO,
        max_runtimes: 10,
        edge: PathBuf::new(),
        requires_edge_walls: false,
    };
    Core::open(&options).map_err(|error| error.to_string())
}

#[test]
fn two_images_of_one_guest_have_one_module() {
    let (folder, inputs) = (Folder::new("two-images"), Folder::new("two-images-inputs"));
    std::fs::write(inputs.0.join("x"), "x").expect("an input");
    let guest = folder.build(&growing(), &[], "guest");
    let shell = folder.build(&growing(), std::slice::from_ref(&inputs.0), "shell");
    assert_eq!(shell.memory_len, guest.memory_len + 65_536);
    assert_eq!(shell.module_file, guest.module_file);
    assert_eq!(folder.modules(), [guest.module_file]);
}

#[test]
fn equal_inputs_make_equal_files() {
    let (one, other) = (Folder::new("equal-1"), Folder::new("equal-2"));
    let module = one.build(GUEST, &[], "guest").module_file;
    assert_eq!(other.build(GUEST, &[], "guest").module_file, module);
    for name in ["guest.image", &module] {
        let read = |folder: &Folder| std::fs::read(folder.0.join(name)).expect("a file");
        assert!(read(&one) == read(&other), "{name}");
    }
}

#[test]
fn a_build_keeps_the_modules_that_other_images_name() {
    let folder = Folder::new("old-modules");
    std::fs::write(folder.0.join("shell-0123456789abcdef.cwasm"), "of no image").expect("a file");
    let changed = GUEST.replace("(i32.store (i32.const 1028) (i32.const 5))", "(i32.store (i32.const 1028) (i32.const 6))");
    let shell = folder.build(GUEST, &[], "shell");
    assert_eq!(folder.modules(), std::slice::from_ref(&shell.module_file));
    let guest = folder.build(&changed, &[], "guest");
    let mut both = [shell.module_file, guest.module_file.clone()];
    both.sort();
    assert_eq!(folder.modules(), both);
    folder.build(&changed, &[], "shell");
    assert_eq!(folder.modules(), [guest.module_file]);
}

#[test]
fn refuses_an_image_that_is_shorter_than_the_memory_of_its_module() {
    let folder = Folder::new("short-image");
    let longer =
        folder.build(&GUEST.replacen("(memory (export \"memory\") 4", "(memory (export \"memory\") 5", 1), &[], "longer");
    folder.build(GUEST, &[], "guest");
    let path = folder.0.join("guest.image");
    let mut file = std::fs::read(&path).expect("the image");
    let header = Header::decode(&file[..HEADER_LEN], file.len() as u64).expect("a header");
    let wrong = Header { module_file: longer.module_file, ..header }.encode().expect("a header");
    file[..HEADER_LEN].copy_from_slice(&wrong);
    std::fs::write(&path, file).expect("the image");
    let error = open(&folder.0).err().expect("a refusal");
    assert!(error.contains("has 327680 bytes at least, the image 262144"), "{error}");
}
