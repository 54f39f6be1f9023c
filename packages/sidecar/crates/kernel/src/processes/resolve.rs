//! Resolves a command to a program: searches PATH, checks permissions, and follows the first line
//! of a script to a program file.
//!
//! The programs of a runtime are files that begin with [`MAGIC`] and a name from [`ProgramKind`]'s
//! table. Guests can copy, link and rename these files, but the files do not contain the programs.
//! This module runs `env`, because `env` only prepares the start of another program. Next:
//! `spawn.rs`.

use crate::fs::{ExecutableHead, View};
use crate::steps;
use crate::text::{Text, Variables};
use coldframe_error::Errno;
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};

/// The first bytes of a program file. The program's name and a line feed follow. In a command of
/// the shell, the name is `shell` and the command's name. In a binding's command, the name is
/// `binding` and the binding's name.
pub(crate) const MAGIC: &[u8] = b"\x7fCOLDFRAME ";
/// The search path if the environment has no PATH.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The maximum number of steps of a resolution: one for each script that another script runs, as on
/// Linux, and one for `env`.
const MAX_STEPS: usize = 6;
/// The JavaScript that `node` runs instead of `env` if no command is given. [`MISSING`] is the
/// JavaScript for a command that is not found.
const PRINT: &str = "for (const key in process.env) console.log(`${key}=${process.env[key]}`)";
const MISSING: &str = "console.error(`env: '${process.argv[1]}': No such file or directory`); process.exitCode = 127";

/// A kind of program: the code that runs a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramKind {
    /// The guest image, with Node's command line as arguments.
    Node,
    /// The shell's image, which runs the command of this name.
    Shell(String),
    /// The guest image, which calls the binding of this name.
    Binding(String),
    /// The image of Python, with Python's command line as arguments.
    Python,
    /// The command `env`, which runs in no VM: another program is started instead.
    Env,
}

/// A resolved command: the program, its arguments and its environment.
#[derive(Debug, PartialEq, Eq)]
pub struct Command {
    /// The program that runs the command.
    pub kind: ProgramKind,
    /// The arguments. The first argument is the name by which the program is called.
    pub argv: Vec<Text>,
    /// The environment variables of the program.
    pub env: Variables,
    /// Whether the command starts with the effective user 0 (`credentials.rs`).
    pub raises: bool,
}

impl ProgramKind {
    /// Returns the program's name, which permission rules about programs match.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Node => "node",
            Self::Python => "python3",
            Self::Env => "env",
            Self::Shell(name) | Self::Binding(name) => name,
        }
    }

    /// Returns the program that the first bytes of a program file name. Returns `None` for another
    /// file.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head.strip_prefix(MAGIC)? {
            b"node\n" => Some(Self::Node),
            b"env\n" => Some(Self::Env),
            b"python\n" => Some(Self::Python),
            line => {
                let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
                match line.split_once(' ')? {
                    ("shell", command) => Some(Self::Shell(command.to_owned())),
                    ("binding", name) => Some(Self::Binding(name.to_owned())),
                    _ => None,
                }
            }
        }
    }
}

/// Resolves `file` to a command. The first element of `argv` is the name by which the program is
/// called. Fails with `ELOOP` after [`MAX_STEPS`] steps.
pub(crate) fn resolve(view: &View<'_>, file: &[u8], mut argv: Vec<Text>, mut env: Variables) -> Result<Command, Errno> {
    let mut file = file.to_vec();
    let (mut searches, mut by_env) = (true, false);
    for _ in 0..MAX_STEPS {
        let found = if searches { search(view, &file, &env) } else { view.executable(&file).map(|head| (file.clone(), head)) };
        if by_env && found == Err(Errno::ENOENT) {
            return Ok(evaluated(MISSING, argv.into_iter().next(), env));
        }
        let (path, head) = found?;
        match ProgramKind::of(&head.bytes) {
            Some(ProgramKind::Env) => {
                let given = env.clone();
                argv = env_arguments(argv, &mut env)?;
                view.filter_env(&mut env, Some(&given));
                let Some(first) = argv.first() else { return Ok(evaluated(PRINT, None, env)) };
                file = first.as_bytes().to_vec();
                (searches, by_env) = (true, true);
            }
            Some(kind) => return Ok(Command { kind, argv, env, raises: head.raises }),
            None => {
                let (interpreter, option) = interpreter(&head.bytes)?;
                let path = String::from_utf8_lossy(&path).into_owned();
                let rest = argv.into_iter().skip(1);
                let script = [Some(interpreter.clone()), option, Some(path)];
                argv = script.into_iter().flatten().map(Text::from).chain(rest).collect();
                file = interpreter.into_bytes();
                searches = false;
            }
        }
    }
    Err(Errno::ELOOP)
}

/// Returns a command that runs `node` with the JavaScript `program`.
fn evaluated(program: &str, argument: Option<Text>, env: Variables) -> Command {
    let argv = ["env", "-e", program, "--"].map(Text::from).into_iter().chain(argument).collect();
    Command { kind: ProgramKind::Node, argv, env, raises: false }
}

/// Finds a command's file. Returns the path and the first bytes. A name without a slash is searched
/// in the directories of PATH. Fails with `EACCES` if files of the name exist but no such file is
/// executable.
fn search(view: &View<'_>, file: &[u8], env: &[(Text, Text)]) -> Result<(Vec<u8>, ExecutableHead), Errno> {
    if file.is_empty() {
        return Err(Errno::ENOENT);
    }
    if file.contains(&b'/') {
        return Ok((file.to_vec(), view.executable(file)?));
    }
    let path = env.iter().find(|(key, _)| *key == "PATH").map_or(DEFAULT_PATH, |(_, value)| value);
    let mut failure = Errno::ENOENT;
    for folder in path.split(':') {
        let folder = if folder.is_empty() { "." } else { folder };
        let candidate = [folder.as_bytes(), b"/", file].concat();
        // If the budget of the call is used up, each further directory would fail too.
        steps::take(1)?;
        match view.executable(&candidate) {
            Ok(head) => return Ok((candidate, head)),
            Err(Errno::EACCES) => failure = Errno::EACCES,
            Err(_) => {}
        }
    }
    Err(failure)
}

/// Parses a script's first line. Returns the interpreter and at most one argument. Fails with
/// `ENOEXEC` if the file is no script.
fn interpreter(head: &[u8]) -> Result<(String, Option<String>), Errno> {
    let line = head.strip_prefix(b"#!").ok_or(Errno::ENOEXEC)?;
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let line = line.trim_matches([' ', '\t', '\r']);
    let (interpreter, option) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if interpreter.is_empty() {
        return Err(Errno::ENOEXEC);
    }
    let option = option.trim_start_matches([' ', '\t']);
    Ok((interpreter.to_owned(), (!option.is_empty()).then(|| option.to_owned())))
}

/// Parses the arguments `env [-i] [-S TEXT] [NAME=VALUE]... COMMAND ARGUMENTS` and changes the
/// environment. Returns the command with its arguments, or an empty list. Fails with `EINVAL` for
/// an unknown option.
fn env_arguments(argv: Vec<Text>, env: &mut Variables) -> Result<Vec<Text>, Errno> {
    let mut rest: VecDeque<_> = argv.into_iter().skip(1).collect();
    let mut assigned = Vec::new();
    let command = loop {
        let Some(first) = rest.pop_front() else { break Vec::new() };
        match &*first {
            "-i" | "--ignore-environment" => {
                env.clear();
                assigned.clear();
            }
            "--" => break rest.into(),
            "-S" => {
                let text = rest.pop_front().ok_or(Errno::EINVAL)?;
                push_words(&mut rest, &text)?;
            }
            text if text.starts_with("-S") => {
                push_words(&mut rest, &text[2..])?;
            }
            text if text.starts_with('-') => return Err(Errno::EINVAL),
            _ => match first.split_once('=') {
                Some(variable) => assigned.push(variable),
                None => {
                    rest.push_front(first);
                    break rest.into();
                }
            },
        }
    };
    assign(env, assigned);
    Ok(command)
}

/// Puts the words of `text` before the other arguments.
fn push_words(rest: &mut VecDeque<Text>, text: &str) -> Result<(), Errno> {
    for word in text.split_whitespace().rev() {
        steps::take(1).map_err(|_| Errno::E2BIG)?;
        rest.push_front(word.into());
    }
    Ok(())
}

/// Sets variables. The last value of a name counts. The time is linear, because a guest can pass a
/// hundred thousand names.
fn assign(env: &mut Variables, assigned: Variables) {
    let mut names = HashSet::new();
    let mut last: Vec<_> = assigned.into_iter().rev().filter(|(name, _)| names.insert(name.clone())).collect();
    last.reverse();
    env.retain(|(name, _)| !names.contains(name));
    env.append(&mut last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;
    use crate::caller_scope::CallerScope;
    use crate::limits::Limits;
    use crate::testing::FakeCaller;
    use crate::text::variables;
    use std::sync::Arc;

    fn words(text: &str) -> Vec<Text> {
        text.split(' ').map(Text::from).collect()
    }

    #[test]
    fn reads_an_interpreter_and_one_argument_from_a_first_line() {
        let of = |head: &str| interpreter(head.as_bytes());
        assert_eq!(of("#!/usr/bin/env node\ncode"), Ok(("/usr/bin/env".into(), Some("node".into()))));
        assert_eq!(of("#! /a/b\t -x y \r\n"), Ok(("/a/b".into(), Some("-x y".into()))));
        assert_eq!(of("#!/a/b"), Ok(("/a/b".into(), None)));
        for head in ["", "#", "#!", "#! \n/a", "echo"] {
            assert_eq!(of(head), Err(Errno::ENOEXEC), "{head:?}");
        }
    }

    #[test]
    fn a_program_file_names_its_program() {
        let of = |head: &[u8]| ProgramKind::of(&[MAGIC, head].concat());
        assert_eq!(of(b"node\n"), Some(ProgramKind::Node));
        assert_eq!(of(b"env\n"), Some(ProgramKind::Env));
        assert_eq!(of(b"python\n"), Some(ProgramKind::Python));
        assert_eq!(of(b"shell ls\n"), Some(ProgramKind::Shell("ls".into())));
        assert_eq!(of(b"binding weather\n"), Some(ProgramKind::Binding("weather".into())));
        for forged in [&b"shell"[..], b"shell ls", b"shell \xff\n", b"binding\n", b"binding a", b"nodes\n", b""] {
            assert_eq!(of(forged), None, "{forged:?}");
        }
        assert_eq!(ProgramKind::of(b"shell ls\n"), None);
    }

    #[test]
    fn env_changes_the_environment_and_returns_the_command() {
        let mut env = variables(&[("A", "1")]);
        assert_eq!(env_arguments(words("env B=2 A=3 node -v"), &mut env), Ok(words("node -v")));
        assert_eq!(env, variables(&[("B", "2"), ("A", "3")]));
        assert_eq!(
            env_arguments(vec!["env".into(), "-S".into(), "node --x".into(), "f".into()], &mut env),
            Ok(words("node --x f"))
        );
        assert_eq!(env_arguments(words("env -i node"), &mut env), Ok(words("node")));
        assert!(env.is_empty());
        assert_eq!(env_arguments(words("env"), &mut env), Ok(vec![]));
        assert_eq!(env_arguments(words("env --unknown"), &mut env), Err(Errno::EINVAL));
    }

    #[test]
    fn a_search_through_long_links_is_bounded() {
        let kernel = Arc::new(Kernel::new(&Limits::default()));
        let files = kernel.embedder_files();
        for n in 0..5 {
            files.symlink(&format!("{}/l{}", "./".repeat(1_990), n + 1), &format!("/tmp/l{n}")).expect("a link");
        }
        files.mkdir("/tmp/l5", false).expect("a directory");
        let program = FakeCaller::root(&kernel, "/tmp");
        let find = |path: String| {
            let _scope = CallerScope::enter(program.pid());
            resolve(&program.process().view(), b"nope", words("nope"), variables(&[("PATH", &*path)]))
        };
        assert_eq!(find("l0:/usr/bin".to_owned()), Err(Errno::ENOENT));
        assert_eq!(find("l0:".repeat(60_000)), Err(Errno::ELOOP));
        assert_eq!(find("none:".repeat(60_000)), Err(Errno::ELOOP));
    }

    #[test]
    fn env_sets_a_hundred_thousand_variables() {
        let env: Vec<_> = (0..100_000).map(|index| (format!("A{index}"), String::new())).collect();
        let mut env = variables(&env);
        let argv = std::iter::once("env".to_owned()).chain((0..100_000).map(|index| format!("A{index}=1")));
        let argv = argv.chain(["node".to_owned()]).map(Text::from).collect();
        assert_eq!(env_arguments(argv, &mut env), Ok(words("node")));
        assert_eq!(env.len(), 100_000);
        assert!(env.iter().all(|(_, value)| *value == "1"));
    }
}
