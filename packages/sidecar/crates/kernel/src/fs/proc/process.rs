//! The texts of `/proc` about one process. The formats are Linux's formats. Values that the kernel
//! does not count are constants. Next: `net.rs`.

use super::Proc;
use super::machine::{mounts, ticks};
use crate::caller::Caller;
use crate::caller_scope::current_caller;
use crate::fs::tree::FileSystem;
use std::fmt::Write as _;

/// A function that returns the text of a file.
pub(super) type Text = fn(&Proc, &FileSystem, &dyn Caller) -> Vec<u8>;

pub(super) const TEXTS: &[(&str, Text)] = &[
    ("cgroup", |_, _, _| b"0::/\n".to_vec()),
    ("cmdline", |_, _, program| {
        program.process().facts.argv().iter().flat_map(|argument| [argument.as_bytes(), b"\0"].concat()).collect()
    }),
    ("comm", |_, _, program| format!("{}\n", program.process().facts.name()).into_bytes()),
    ("environ", |_, _, program| environ(program)),
    ("limits", |_, _, program| limits(program).into_bytes()),
    ("maps", |_, _, program| {
        format!("00000000-{:08x} rw-p 00000000 00:00 0                          [heap]\n", program.process().facts.memory())
            .into_bytes()
    }),
    ("mounts", |_, tree, _| mounts(tree).into_bytes()),
    ("stat", |proc, _, program| stat(proc, program).into_bytes()),
    ("statm", |_, _, program| {
        let pages = program.process().facts.memory() / PAGE;
        format!("{pages} {pages} 0 0 0 {pages} 0\n").into_bytes()
    }),
    ("status", |proc, _, program| status(proc, program).into_bytes()),
];

const PAGE: u64 = 4_096;

/// Returns the environment at the start of a process, without the variables that the present policy
/// denies. The policy may have changed since the process received its environment. The embedder
/// reads all variables.
fn environ(program: &dyn Caller) -> Vec<u8> {
    let process = program.process();
    let mut env = process.facts.env().to_vec();
    if let Some(reader) = current_caller() {
        process.kernel.permissions.filter_env(Some(reader), &mut env, None);
    }
    env.iter().flat_map(|(key, value)| format!("{key}={value}\0").into_bytes()).collect()
}

/// Returns the state of a process. The calling process is running, and every other process is
/// sleeping.
fn state(program: &dyn Caller) -> (char, &'static str) {
    if current_caller() == Some(program.pid()) { ('R', "running") } else { ('S', "sleeping") }
}

fn stat(proc: &Proc, program: &dyn Caller) -> String {
    let (parent, group, session) = proc.processes.family(program.pid());
    let facts = &program.process().facts;
    let cpu = ticks(program.cpu_ns());
    let (letter, pid, memory) = (state(program).0, program.pid(), facts.memory());
    let pages = memory / PAGE;
    // The start time of the process is 0, because `/proc/uptime` shows the age of the calling
    // process.
    let fields = format!("{parent} {group} {session} 0 -1 0 0 0 0 0 {cpu} 0 0 0 20 0 1 0 0 {memory} {pages}");
    let name = facts.name();
    format!("{pid} ({name}) {letter} {fields}{}\n", " 0".repeat(28))
}

fn status(proc: &Proc, program: &dyn Caller) -> String {
    let (parent, group, session) = proc.processes.family(program.pid());
    let (letter, word) = state(program);
    let (pid, kilobytes) = (program.pid(), program.process().facts.memory() / 1024);
    let descriptors = program.process().files.descriptors.lock().open().len();
    let credentials = program.process().files.credentials();
    let [uid, gid] = credentials.status();
    let groups: Vec<_> = credentials.groups().iter().map(u32::to_string).collect();
    let lines: [(&str, String); 23] = [
        ("Name", program.process().facts.name().to_owned()),
        ("Umask", format!("{:04o}", program.process().files.umask())),
        ("State", format!("{letter} ({word})")),
        ("Tgid", pid.to_string()),
        ("Ngid", "0".to_owned()),
        ("Pid", pid.to_string()),
        ("PPid", parent.to_string()),
        ("TracerPid", "0".to_owned()),
        ("Uid", uid),
        ("Gid", gid),
        ("FDSize", descriptors.to_string()),
        ("Groups", groups.join(" ")),
        ("NSpgid", group.to_string()),
        ("NSsid", session.to_string()),
        ("VmPeak", format!("{kilobytes:>8} kB")),
        ("VmSize", format!("{kilobytes:>8} kB")),
        ("VmHWM", format!("{kilobytes:>8} kB")),
        ("VmRSS", format!("{kilobytes:>8} kB")),
        ("VmData", format!("{kilobytes:>8} kB")),
        ("VmSwap", format!("{:>8} kB", 0)),
        ("Threads", "1".to_owned()),
        ("NoNewPrivs", "1".to_owned()),
        ("Cpus_allowed_list", "0".to_owned()),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        let _ = writeln!(text, "{name}:\t{value}");
    }
    text
}

fn limits(program: &dyn Caller) -> String {
    let limits = &program.process().limits;
    let mut text = format!("{:<25} {:<20} {:<20} {:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    let mut line = |name: &str, value: Option<u64>, unit: &str| {
        let value = value.map_or_else(|| "unlimited".to_owned(), |value| value.to_string());
        let _ = writeln!(text, "{name:<25} {value:<20} {value:<20} {unit:<10}");
    };
    line("Max cpu time", Some((limits.cpu_ms / 1_000).max(1)), "seconds");
    line("Max file size", None, "bytes");
    line("Max data size", Some(limits.memory_bytes), "bytes");
    line("Max core file size", Some(0), "bytes");
    line("Max processes", Some(limits.processes), "processes");
    line("Max open files", Some(limits.descriptors), "files");
    line("Max address space", Some(limits.memory_bytes), "bytes");
    text
}
