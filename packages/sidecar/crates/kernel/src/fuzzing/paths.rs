//! The target `paths`: the walk along paths, compared with a model.
//!
//! An input makes directories, files and links, and then resolves paths. The model resolves a path
//! with a recursion over a map of absolute paths, without permissions and limits of names.

use super::world::World;
use arbitrary::{Result, Unstructured};
use coldframe_abi::system_calls::FileCall;
use coldframe_error::Errno;
use std::collections::BTreeMap;

/// The directory that the input changes.
const TOP: &str = "/workspace";
const NAMES: &[&str] = &["a", "b", "c", "l", "m", ".", "..", "", "/", "aa"];
const MOST_LINKS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Directory,
    File,
    Link(String),
}

/// The files below [`TOP`], by absolute path.
struct Model(BTreeMap<String, Node>);

impl Model {
    /// Resolves `path` from the directory `at`. Returns the absolute path without links and dots.
    fn resolve(&self, at: &str, path: &str, links: &mut usize) -> std::result::Result<String, Errno> {
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        let mut here = if path.starts_with('/') { "/".to_owned() } else { at.to_owned() };
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        for (index, part) in parts.iter().enumerate() {
            if !self.is_directory(&here) {
                return Err(Errno::ENOTDIR);
            }
            match *part {
                "." => {}
                ".." => here = parent(&here).to_owned(),
                name => {
                    let full = format!("{}/{name}", here.trim_end_matches('/'));
                    match self.0.get(&full) {
                        Some(Node::Link(target)) => {
                            *links += 1;
                            if *links > MOST_LINKS {
                                return Err(Errno::ELOOP);
                            }
                            here = self.resolve(&here, target, links)?;
                            let is_last = index + 1 == parts.len();
                            if !is_last && !self.is_directory(&here) {
                                return Err(Errno::ENOTDIR);
                            }
                        }
                        Some(_) => here = full,
                        None if self.is_known(&full) => here = full,
                        None => return Err(Errno::ENOENT),
                    }
                }
            }
        }
        let ends_in_directory = path.ends_with('/') && !parts.is_empty();
        if ends_in_directory && !self.is_directory(&here) { Err(Errno::ENOTDIR) } else { Ok(here) }
    }

    /// Returns whether the path is the root or [`TOP`], which always exist.
    fn is_known(&self, path: &str) -> bool {
        path == "/" || path == TOP
    }

    fn is_directory(&self, path: &str) -> bool {
        self.is_known(path) || self.0.get(path) == Some(&Node::Directory)
    }
}

fn parent(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(at) => &path[..at],
    }
}

fn path(input: &mut Unstructured<'_>) -> Result<String> {
    let mut path = String::new();
    if input.ratio(1, 4)? {
        path.push_str(TOP);
        path.push('/');
    }
    for _ in 0..input.int_in_range(1..=6)? {
        path.push_str(input.choose(NAMES)?);
        if !input.ratio(1, 8)? {
            path.push('/');
        }
    }
    if input.arbitrary()? {
        path.truncate(path.trim_end_matches('/').len().max(1));
    }
    Ok(path)
}

/// Makes a call with two texts.
fn call(world: &World, call: FileCall, one: &str, other: &str, last: i64) -> crate::Answer {
    let mut memory = [one.as_bytes(), other.as_bytes()].concat();
    let (one, other) = (one.len() as i64, other.len() as i64);
    let integers = match call {
        FileCall::Symlink | FileCall::Rename | FileCall::Link => [0, one, one, other, 0, 0, 0, 0],
        _ => [0, one, last, 0o777, 0, 0, 0, 0],
    };
    world.call(0, call.number(), integers, &mut memory)
}

fn real_path(world: &World, path: &str) -> std::result::Result<String, Errno> {
    let mut memory = vec![0; path.len() + 8_192];
    memory[..path.len()].copy_from_slice(path.as_bytes());
    let len = path.len() as i64;
    let count = world.call(0, FileCall::Realpath.number(), [0, len, len, 8_192, 0, 0, 0, 0], &mut memory)?;
    let bytes = &memory[path.len()..path.len() + usize::try_from(count).expect("a length")];
    Ok(String::from_utf8(bytes.to_vec()).expect("names of the input"))
}

/// Makes one file in the model and the kernel. The new name is in an existing directory.
fn make(world: &World, model: &mut Model, input: &mut Unstructured<'_>) -> Result<()> {
    let directories = model.0.iter().filter(|(_, node)| **node == Node::Directory).map(|(path, _)| path.clone());
    let directories: Vec<String> = std::iter::once(TOP.to_owned()).chain(directories).collect();
    let full = format!("{}/{}", input.choose(&directories)?, input.choose(&["a", "b", "c", "l", "m"])?);
    if model.0.contains_key(&full) {
        return Ok(());
    }
    let (node, made) = match input.int_in_range(0..=3)? {
        0 => (Node::File, call(world, FileCall::Open, &full, "", 0o101).map(|fd| close(world, fd))),
        1 => (Node::Directory, call(world, FileCall::Mkdir, &full, "", 0o777).map(drop)),
        _ => {
            let target = Some(path(input)?).filter(|target| !target.is_empty()).unwrap_or_else(|| ".".to_owned());
            (Node::Link(target.clone()), call(world, FileCall::Symlink, &target, &full, 0).map(drop))
        }
    };
    assert_eq!(made, Ok(()), "{node:?} {full}");
    model.0.insert(full, node);
    Ok(())
}

fn close(world: &World, fd: i64) {
    world.call(0, FileCall::Close.number(), [fd, 0, 0, 0, 0, 0, 0, 0], &mut []).expect("the descriptor is open");
}

fn run(world: &World, input: &mut Unstructured<'_>) -> Result<()> {
    let mut model = Model(BTreeMap::new());
    for _ in 0..input.int_in_range(1..=24)? {
        make(world, &mut model, input)?;
    }
    while !input.is_empty() {
        let path = path(input)?;
        // The model has no other files outside the directory than the path to it.
        let expected = model.resolve(TOP, &path, &mut 0);
        let is_inside = |path: &str| path == "/" || path.starts_with(TOP);
        let found = real_path(world, &path);
        if found.as_ref().is_ok_and(|found| !is_inside(found)) {
            continue;
        }
        assert_eq!(found, expected, "{path:?} in {:?}", model.0);
    }
    Ok(())
}

/// Makes files and resolves paths.
///
/// # Panics
/// Panics if the kernel resolves a path to another file than the model, or fails with another
/// error.
pub fn paths(data: &[u8]) {
    let world = World::new();
    // The input may end in the middle of a value.
    let _ = run(&world, &mut Unstructured::new(data));
    world.finish();
}
