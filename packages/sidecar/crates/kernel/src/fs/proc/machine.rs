//! The texts of `/proc` about the guest's machine. The facts equal the values of `node:os` in the
//! guest (`os.js` of the internal bindings), and do not depend on the host machine. Next:
//! `process.rs`.

use super::Proc;
use crate::boot_id::Uuid;
use crate::caller_scope::current_caller;
use crate::fs::tree::FileSystem;
use crate::fs::user::NOBODY;
use crate::fs::walk::Location;
use coldframe_sys as sys;
use std::fmt::Write as _;

/// A function that returns the text of a file.
pub(super) type Text = fn(&Proc, &FileSystem) -> String;

pub(super) const ROOT: &[(&str, Text)] = &[
    ("cpuinfo", |_, _| {
        "processor\t: 0\nvendor_id\t: Coldframe\nmodel name\t: virtual\ncpu MHz\t\t: 0.000\nsiblings\t: 1\ncpu cores\t: 1\n\n"
            .to_owned()
    }),
    ("filesystems", |_, _| "nodev\ttmpfs\nnodev\tproc\n".to_owned()),
    ("loadavg", loadavg),
    ("meminfo", meminfo),
    ("stat", stat),
    ("uptime", uptime),
    ("version", |_, _| format!("Linux version {RELEASE} ({HOSTNAME}) {VERSION}\n")),
];

pub(super) const KERNEL: &[(&str, Text)] = &[
    ("hostname", |_, _| format!("{HOSTNAME}\n")),
    ("osrelease", |_, _| format!("{RELEASE}\n")),
    ("ostype", |_, _| "Linux\n".to_owned()),
    ("overflowgid", |_, _| format!("{NOBODY}\n")),
    ("overflowuid", |_, _| format!("{NOBODY}\n")),
    ("pid_max", |_, _| "4194304\n".to_owned()),
    ("version", |_, _| format!("{VERSION}\n")),
];

pub(super) const RANDOM: &[(&str, Text)] =
    &[("boot_id", |proc, _| line(proc.processes.boot_id.get())), ("uuid", |_, _| line(Uuid::random()))];

const HOSTNAME: &str = "coldframe";
const RELEASE: &str = "6.1.0";
const VERSION: &str = "#1 SMP";
/// The largest size of a guest's memory.
const TOTAL_BYTES: u64 = 2 << 30;
/// Units of CPU time in a second.
pub(super) const TICKS: u64 = 100;
const NANOSECONDS: u64 = 1_000_000_000;

/// Converts nanoseconds to units of CPU time.
pub(super) fn ticks(nanoseconds: u64) -> u64 {
    nanoseconds / (NANOSECONDS / TICKS)
}

impl Proc {
    /// Returns the memory of the calling process in bytes, and the age of the process in
    /// nanoseconds. The age also serves as the machine's uptime.
    fn of_caller(&self) -> (u64, u64) {
        let program = current_caller().and_then(|pid| self.processes.program(pid));
        program.map_or((0, 0), |program| (program.process().facts.memory(), program.process().facts.age_ns()))
    }
}

fn loadavg(proc: &Proc, _: &FileSystem) -> String {
    let living = proc.processes.living();
    format!("0.00 0.00 0.00 1/{} {}\n", living.len(), living.last().map_or(0, |pid| pid.get()))
}

fn meminfo(proc: &Proc, tree: &FileSystem) -> String {
    let used = proc.of_caller().0;
    let free = TOTAL_BYTES.saturating_sub(used) / 1024;
    let mut text = String::new();
    let lines = [
        ("MemTotal", TOTAL_BYTES / 1024),
        ("MemFree", free),
        ("MemAvailable", free),
        ("Buffers", 0),
        ("Cached", tree.used.bytes / 1024),
        ("SwapTotal", 0),
        ("SwapFree", 0),
        ("Shmem", tree.used.bytes / 1024),
    ];
    for (name, kilobytes) in lines {
        let _ = writeln!(text, "{:<15} {kilobytes:>8} kB", format!("{name}:"));
    }
    text
}

fn stat(proc: &Proc, _: &FileSystem) -> String {
    let living = proc.processes.living();
    let began = sys::wall_ns() / NANOSECONDS - proc.of_caller().1 / NANOSECONDS;
    format!(
        "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime {began}\n\
         processes {}\nprocs_running 1\nprocs_blocked 0\n",
        living.last().map_or(0, |pid| pid.get())
    )
}

fn uptime(proc: &Proc, _: &FileSystem) -> String {
    let hundredths = proc.of_caller().1 / (NANOSECONDS / 100);
    format!("{}.{:02} 0.00\n", hundredths / 100, hundredths % 100)
}

/// Returns the line of an id. Without entropy the text is empty, because any other text would not
/// be random.
fn line(id: Option<Uuid>) -> String {
    id.map(|id| format!("{id}\n")).unwrap_or_default()
}

/// Returns a line for each mount, in the format of Linux. A line has the guest path, and never a
/// host path.
pub(super) fn mounts(tree: &FileSystem) -> String {
    let mut text = "tmpfs / tmpfs rw,relatime 0 0\n".to_owned();
    for (number, mount) in tree.mounts.iter().enumerate() {
        if mount.is_missing_library() {
            continue;
        }
        let Ok(path) = tree.path_of(&Location::Mount(number, Vec::new())) else { continue };
        let (source, kind) = if mount.proc().is_some() { ("proc", "proc") } else { ("host", "coldframe") };
        let access = if mount.read_only && mount.proc().is_none() { "ro" } else { "rw" };
        // Linux escapes these characters.
        let path = String::from_utf8_lossy(&path).replace('\\', "\\134").replace(' ', "\\040");
        let path = path.replace('\t', "\\011").replace('\n', "\\012");
        let _ = writeln!(text, "{source} {path} {kind} {access},relatime 0 0");
    }
    text
}
