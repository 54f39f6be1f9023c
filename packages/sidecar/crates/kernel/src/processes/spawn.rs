//! Starts a child. The kernel resolves the child's command, working directory and descriptors, and
//! the runtime makes a program for the child. The parent and the child share only the kernel. Next:
//! `waiting.rs`.

use super::resolve::{Command, resolve};
use super::spec::{Spec, SpecLimits, Stdio};
use crate::caller::Caller;
use crate::descriptors::{Description, Descriptors, Target};
use crate::fs::View;
use crate::steps;
use crate::text::{Text, Variables};
use crate::usage::{Charge, Resource};
use crate::{Answer, Kernel, Process};
use coldframe_error::Errno;
use coldframe_ids::Pid;
use std::sync::Arc;

/// A child process that has a pid and that the runtime can start.
pub struct Child {
    /// The child's process.
    pub process: Process,
    /// The parent process.
    pub parent: Pid,
    /// The command that the child runs.
    pub command: Command,
    /// The working directory.
    pub cwd: String,
    /// The charge for the memory that the child starts with.
    pub memory: Charge,
}

/// Resolves a command that the embedder starts. Fails with `ENOENT` if the command does not exist.
pub fn find(process: &Process, file: &str, argv: Vec<Text>, env: Variables) -> Result<Command, Errno> {
    // The embedder chose the command, so permissions do not apply.
    let view = View { permissions: None, ..process.view() };
    let command = resolve(&view, file.as_bytes(), argv, env)?;
    process.files.start_program(command.raises);
    Ok(command)
}

/// Starts a child as a `spawn` call requests. Returns the child's pid. Fails with `EAGAIN` if the
/// process table is full or the runtime has been disposed.
pub(super) fn spawn(program: &Arc<dyn Caller>, words: &[u8], texts: &[u8]) -> Answer {
    let parent = program.process();
    let kernel = &parent.kernel;
    let (usage, limits) = (&kernel.usage, &kernel.usage.limits);
    let most = SpecLimits { descriptors: kernel.descriptors(), argv_bytes: limits.argv_bytes, env_bytes: limits.env_bytes };
    let mut spec = Spec::read(words, texts, most)?;
    kernel.permissions.filter_env(Some(program.pid()), &mut spec.env, Some(parent.facts.env()));
    if steps::are_used_up() {
        return Err(Errno::E2BIG);
    }
    let child_memory = program.child_memory().ok_or(Errno::EAGAIN)?;
    let texts = Charge::of(usage, Resource::Kernel, spec.cost()).ok_or(Errno::ENOMEM)?;
    let memory = Charge::of(usage, Resource::Memory, child_memory).ok_or(Errno::ENOMEM)?;
    let cwd = if spec.cwd.is_empty() { b"." } else { &*spec.cwd };
    // The files, the process table and the runtime's programs each get a part of the child.
    let _change = program.health().change();
    // The child has no descriptors yet. The descriptors are added below, after the command was
    // resolved.
    let (files, cwd) = parent.files.child(&kernel.files, cwd, Descriptors::inherited(Vec::new(), kernel.descriptors()))?;
    let began = (|| {
        files.change_credentials(|own| own.become_user(spec.uid, spec.gid))?;
        let view = files.view(&kernel.files);
        let command = resolve(&view, &spec.file, spec.argv, spec.env)?;
        files.start_program(command.raises);
        let slots = slots(parent, &spec.stdio)?;
        match kernel.processes.enter_child(program.pid(), spec.placement) {
            Ok(pid) => {
                place_on_terminal(kernel, pid, (spec.is_foreground, spec.takes_terminal), &slots);
                Ok((pid, command, slots))
            }
            Err(error) => {
                parent.drop_all(slots.into_iter().flatten().collect());
                Err(error)
            }
        }
    })();
    let (pid, command, slots) = match began {
        Ok(began) => began,
        Err(error) => {
            files.leave(&mut kernel.files.lock());
            return Err(error);
        }
    };
    *files.descriptors.lock() = Descriptors::inherited(slots, kernel.descriptors());
    let mut process = Process::with_files(kernel.clone(), pid, files);
    process.limits = parent.limits;
    process.texts = Some(texts);
    let cwd = String::from_utf8_lossy(&cwd).into_owned();
    if let Err(process) = program.start_child(Child { process, parent: program.pid(), command, cwd, memory }) {
        // The start fails only if the runtime has been disposed.
        process.close();
        kernel.processes.remove(pid);
        return Err(Errno::EAGAIN);
    }
    Ok(i64::from(pid.get()))
}

/// Makes the child's group the foreground group of its session's terminal if `wanted.0` is set. If
/// `wanted.1` is set, makes the terminal of descriptor 0 the controlling terminal of the session.
/// Without a terminal the function has no effect.
fn place_on_terminal(kernel: &Kernel, pid: Pid, wanted: (bool, bool), slots: &[Option<Arc<Description>>]) {
    let (is_foreground, takes_terminal) = wanted;
    if is_foreground {
        let (_, group, session) = kernel.processes.family(pid);
        kernel.sockets.set_foreground(session, group);
    }
    let first = slots.first().and_then(Option::as_ref).map(|description| &description.target);
    if let (true, Some(Target::Socket(id))) = (takes_terminal, first) {
        kernel.sockets.control_new_session(*id, pid);
    }
}

fn slots(parent: &Process, stdio: &[Stdio]) -> Result<Vec<Option<Arc<Description>>>, Errno> {
    let mut slots = Vec::with_capacity(stdio.len().max(3));
    for at in 0..stdio.len().max(3) {
        let slot = match stdio.get(at) {
            Some(Stdio::Inherit(fd)) => parent.files.descriptors.lock().get(*fd).map(Some),
            _ if at > 2 => Ok(None),
            _ => parent.files.view(&parent.kernel.files).open_null().map(|null| Some(Arc::new(null))),
        };
        match slot {
            Ok(slot) => slots.push(slot),
            Err(error) => {
                parent.drop_all(slots.into_iter().flatten().collect());
                return Err(error);
            }
        }
    }
    Ok(slots)
}
