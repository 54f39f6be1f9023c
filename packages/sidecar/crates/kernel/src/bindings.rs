//! Bindings: functions of the embedder that programs call by name.
//!
//! The kernel stores each binding's name and the permitted length of its input. A call of an
//! unknown name fails with `ENOENT` and does not reach the embedder. Only the guest's library
//! (`packages/runner/bootstrap/app-bindings/call-binding.js`) and the SDK interpret the bytes of a
//! call. A binding can have commands. Each command is a file on PATH that contains magic bytes and
//! the binding's name (`processes/resolve.rs`, `fs/commands.rs`). Next: `host_calls.rs`.

use super::host_calls::{self, HostCallRequest, MAX_INPUT_BYTES};
use super::processes::MAGIC;
use super::{Answer, Arguments, Kernel};
use crate::caller::Caller;
use crate::embedder::BindingOptions;
use crate::fs::CommandFile;
use crate::ids::OperationId;
use coldframe_abi::system_calls::BindingCall;
use coldframe_error::Errno;
use coldframe_error::Error;
use coldframe_panics::runtime::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The maximum number of bindings of one runtime.
const MAX_BINDINGS: usize = 1_024;
/// The maximum number of commands of one binding.
const MAX_COMMANDS: usize = 16;
/// The maximum length of a binding's or a command's name, in bytes.
const MAX_NAME: usize = 64;

/// The service name of host calls that call a binding.
const CALL: &str = "binding";
/// The service name of host calls that request a binding's description.
const DESCRIBE: &str = "binding.describe";

/// The bindings of a runtime.
#[derive(Default)]
pub(crate) struct Bindings(Mutex<State>);

#[derive(Default)]
struct State {
    /// The permitted length of a call's input in bytes, by the binding's name.
    inputs: BTreeMap<String, usize>,
    /// The name of the binding that a command calls, by the command's name.
    commands: BTreeMap<String, String>,
}

/// The snapshot of a runtime's bindings. Only the commands are included, because the commands'
/// files are in the filesystem's snapshot. The embedder passes the bindings again after a restore.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct BindingsSnapshot {
    commands: BTreeMap<String, String>,
}

impl BindingsSnapshot {
    /// Checks that a runtime could have produced the snapshot. The snapshot may have been read from
    /// a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let are_names = self.commands.iter().all(|(command, binding)| is_name(command.as_bytes()) && is_name(binding.as_bytes()));
        let are_few = self.commands.len() <= MAX_BINDINGS * MAX_COMMANDS;
        if are_names && are_few { Ok(()) } else { Err("a binding's name") }
    }

    /// Returns the bytes that the snapshot uses.
    pub(crate) fn own_bytes(&self) -> u64 {
        self.commands.iter().map(|(command, binding)| (command.len() + binding.len()) as u64).sum()
    }
}

impl Bindings {
    pub(crate) fn snapshot(&self) -> BindingsSnapshot {
        BindingsSnapshot { commands: self.0.lock().commands.clone() }
    }

    /// Restores the commands of a snapshot. A call of a binding fails with `ENOENT` until the
    /// embedder has passed the binding again.
    pub(crate) fn restore(BindingsSnapshot { commands }: &BindingsSnapshot) -> Self {
        Self(Mutex::new(State { inputs: BTreeMap::new(), commands: commands.clone() }))
    }
}

impl Kernel {
    /// Copies the bindings of `before`, the kernel that this kernel replaces. The embedder and the
    /// embedder's functions do not change. Fails if another file has a command's name.
    pub fn take_over_bindings(&self, before: &Self) -> Result<(), Error> {
        let new = {
            let state = before.bindings.0.lock();
            State { inputs: state.inputs.clone(), commands: state.commands.clone() }
        };
        self.exchange_bindings(new)
    }

    /// Replaces the runtime's bindings with `bindings`. Fails without a change if a name is invalid
    /// or repeated, or if another file has the name of a new command.
    pub fn set_bindings(&self, bindings: Vec<BindingOptions>) -> Result<(), Error> {
        self.exchange_bindings(State::of(bindings)?)
    }

    fn exchange_bindings(&self, new: State) -> Result<(), Error> {
        let mut state = self.bindings.0.lock();
        let changed = new.commands.iter().filter(|(command, binding)| state.commands.get(*command) != Some(*binding));
        let written: Vec<_> = changed
            .map(|(name, binding)| CommandFile { name, head: head_of(binding), exists: state.commands.contains_key(name) })
            .collect();
        let dropped = state.commands.keys().filter(|command| !new.commands.contains_key(*command));
        self.embedder_files().exchange_commands(&written, dropped.map(String::as_str))?;
        drop(written);
        *state = new;
        Ok(())
    }
}

impl State {
    fn of(bindings: Vec<BindingOptions>) -> Result<Self, Error> {
        let mut state = Self::default();
        if bindings.len() > MAX_BINDINGS {
            return Err(invalid("bindings", format!("at most {MAX_BINDINGS}"), bindings.len().to_string()));
        }
        for BindingOptions { name, commands, input_bytes } in bindings {
            check_name("name", &name)?;
            if commands.len() > MAX_COMMANDS {
                return Err(invalid("commands", format!("at most {MAX_COMMANDS}"), commands.len().to_string()));
            }
            for command in commands {
                check_name("commands", &command)?;
                if state.commands.insert(command.clone(), name.clone()).is_some() {
                    return Err(invalid("commands", "names that differ".to_owned(), command));
                }
            }
            let input_bytes = usize::try_from(input_bytes).unwrap_or(usize::MAX).min(MAX_INPUT_BYTES);
            if state.inputs.insert(name.clone(), input_bytes).is_some() {
                return Err(invalid("name", "names that differ".to_owned(), name));
            }
        }
        Ok(state)
    }
}

/// Returns whether `name` is a letter, then letters, digits, `_`, `.` or `-`, and has at most
/// [`MAX_NAME`] bytes. Such a name is a valid file name and has no special meaning in a shell.
pub(super) fn is_name(name: &[u8]) -> bool {
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    name.len() <= MAX_NAME && name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(is_inner)
}

fn check_name(field: &str, name: &str) -> Result<(), Error> {
    if is_name(name.as_bytes()) {
        return Ok(());
    }
    let expected = format!("a letter, then letters, digits, '_', '.' or '-', {MAX_NAME} at most");
    Err(invalid(field, expected, format!("{:?}", name.chars().take(100).collect::<String>())))
}

fn invalid(field: &str, expected: String, received: String) -> Error {
    Error::InvalidRequest { what: format!("bindings.{field}"), expected, received }
}

/// Returns the content of a command's file: the magic bytes and the binding's name, which
/// `processes/resolve.rs` reads.
fn head_of(binding: &str) -> Vec<u8> {
    [MAGIC, b"binding ", binding.as_bytes(), b"\n"].concat()
}

/// Runs a system call of the family `bindings`.
pub(super) fn call(program: &dyn Caller, call: BindingCall, arguments: &Arguments<'_>) -> Answer {
    match call {
        BindingCall::Call => ask(program, CALL, arguments.bytes(0)?, arguments.bytes(2)?),
        BindingCall::Cancel => host_calls::cancel(program, arguments.operation(0)?.ok_or(Errno::ENOENT)?).map(|()| 0),
        BindingCall::Describe => ask(program, DESCRIBE, arguments.bytes(0)?, &[]),
    }
}

/// Starts an operation that completes with the embedder's reply. Fails with `EACCES` if the policy
/// denies the binding, and with `ENOENT` if no binding has the name. Fails with `E2BIG` if the
/// input is too long.
fn ask(program: &dyn Caller, service: &'static str, name: &[u8], input: &[u8]) -> Answer {
    let name = std::str::from_utf8(name).map_err(|_| Errno::ENOENT)?;
    program.process().kernel.permissions.check_binding(name).map_err(|denied| program.process().explain(denied))?;
    let most = *program.process().kernel.bindings.0.lock().inputs.get(name).ok_or(Errno::ENOENT)?;
    if input.len() > most {
        return Err(Errno::E2BIG);
    }
    host_calls::begin(program, &HostCallRequest { service, name, input }).map(OperationId::answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn kernel() -> Kernel {
        Kernel::new(&Limits::default())
    }

    fn binding(name: &str, commands: &[&str]) -> BindingOptions {
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        BindingOptions { name: name.to_owned(), commands, input_bytes: 10 }
    }

    fn listed(kernel: &Kernel) -> Vec<String> {
        let names =
            kernel.embedder_files().list("/usr/local/bin").expect("the directory exists").into_iter().map(|entry| entry.name);
        names.filter(|name| name != "node").collect()
    }

    fn code(result: Result<(), Error>) -> &'static str {
        result.map_or_else(|error| error.code(), |()| "")
    }

    #[test]
    fn replaces_the_command_files_when_the_bindings_change() {
        let kernel = kernel();
        kernel.set_bindings(vec![binding("a", &["a", "alpha"]), binding("b", &["b"])]).expect("free names");
        assert_eq!(listed(&kernel), ["a", "alpha", "b"]);
        kernel.set_bindings(vec![binding("b", &["alpha"])]).expect("a command of the previous bindings");
        assert_eq!(listed(&kernel), ["alpha"]);
        let (bytes, _) = kernel.embedder_files().read("/usr/local/bin/alpha", 0, 100).expect("the file exists");
        assert_eq!(bytes, [MAGIC, b"binding b\n"].concat());
        kernel.set_bindings(vec![]).expect("no bindings");
        assert_eq!(listed(&kernel), [""; 0]);
    }

    #[test]
    fn changes_nothing_if_a_command_name_is_taken() {
        let kernel = kernel();
        kernel.embedder_files().write("/usr/local/bin/mine", b"#!/bin/sh", false).expect("free space");
        kernel.set_bindings(vec![binding("a", &["a"])]).expect("free names");
        for taken in ["node", "sh", "ls", "env", "mine"] {
            assert_eq!(code(kernel.set_bindings(vec![binding("b", &["b", taken])])), "EEXIST", "{taken}");
            assert_eq!(listed(&kernel), ["a", "mine"], "{taken}");
        }
        // If another file has replaced a command's file, the other file stays.
        kernel.embedder_files().write("/usr/local/bin/a", b"#!/bin/sh", false).expect("free space");
        kernel.set_bindings(vec![]).expect("no bindings");
        assert_eq!(listed(&kernel), ["a", "mine"]);
    }

    #[test]
    fn changes_nothing_if_a_changed_command_cannot_be_written() {
        let content = |kernel: &Kernel, name: &str| {
            kernel.embedder_files().read(&format!("/usr/local/bin/{name}"), 0, 100).expect("the file exists").0
        };
        let kernel = kernel();
        kernel.set_bindings(vec![binding("a", &["first", "second"])]).expect("free names");
        kernel.embedder_files().write("/usr/local/bin/second", b"#!/bin/sh", false).expect("free space");
        let changed = vec![binding("other", &["first", "new", "second"])];
        assert_eq!(code(kernel.set_bindings(changed.clone())), "EEXIST");
        assert_eq!(listed(&kernel), ["first", "second"]);
        assert_eq!(content(&kernel, "first"), [MAGIC, b"binding a\n"].concat());
        assert_eq!(kernel.bindings.0.lock().commands.get("first").map(String::as_str), Some("a"));
        kernel.embedder_files().remove("/usr/local/bin/second", false).expect("the file exists");
        kernel.set_bindings(changed).expect("free names");
        assert_eq!(listed(&kernel), ["first", "new", "second"]);
        assert_eq!(content(&kernel, "first"), [MAGIC, b"binding other\n"].concat());
    }

    #[test]
    fn changes_nothing_if_the_filesystem_is_full() {
        let kernel = Kernel::new(&Limits { filesystem_bytes: 4_096, ..Limits::default() });
        kernel.set_bindings(vec![binding("a", &["x", "y"])]).expect("free space");
        let used = kernel.embedder_files().read("/usr/local/bin/x", 0, 100).expect("the file exists").0.len() * 2;
        kernel.embedder_files().write("/tmp/full", &vec![1; 4_096 - used - 10], false).expect("free space");
        let longer = vec![binding("abcdefgh", &["x", "y"])];
        assert_eq!(code(kernel.set_bindings(longer.clone())), "ENOSPC");
        for command in ["x", "y"] {
            let (bytes, _) = kernel.embedder_files().read(&format!("/usr/local/bin/{command}"), 0, 100).expect("the file exists");
            assert_eq!(bytes, [MAGIC, b"binding a\n"].concat(), "{command}");
        }
        kernel.embedder_files().remove("/tmp/full", false).expect("the file exists");
        kernel.set_bindings(longer).expect("free space");
    }

    #[test]
    fn refuses_invalid_repeated_and_excess_names() {
        for wrong in ["", "1a", "a/b", "..", "a b", "ä", "-a", "a\n", &"a".repeat(65)] {
            assert_eq!(code(kernel().set_bindings(vec![binding(wrong, &[])])), "ERR_INVALID_REQUEST", "{wrong:?}");
            assert_eq!(code(kernel().set_bindings(vec![binding("a", &[wrong])])), "ERR_INVALID_REQUEST", "{wrong:?}");
        }
        assert_eq!(code(kernel().set_bindings(vec![binding("a", &["x"]), binding("b", &["x"])])), "ERR_INVALID_REQUEST");
        assert_eq!(code(kernel().set_bindings(vec![binding("a", &[]), binding("a", &[])])), "ERR_INVALID_REQUEST");
        assert_eq!(code(kernel().set_bindings(vec![binding("a", &["a"; 17])])), "ERR_INVALID_REQUEST");
        let many = (0..=MAX_BINDINGS).map(|n| binding(&format!("a{n}"), &[])).collect();
        assert_eq!(code(kernel().set_bindings(many)), "ERR_INVALID_REQUEST");
        assert_eq!(code(kernel().set_bindings(vec![binding(&"a".repeat(64), &["a-b_c.d9"])])), "");
    }
}
