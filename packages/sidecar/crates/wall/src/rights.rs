//! Rights of the process that the wall removes: privileges, capabilities, resources and dumps.
//!
//! The code uses `libc` where rustix has no call: the bounding set and the ambient set.

use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities, set_no_new_privs};

/// The largest file: 1 TiB. A snapshot has at most the memory of its programs, and a saved memory
/// at most 4 GiB. Files of mounted folders may be sparse.
const MAX_FILE: u64 = 1 << 40;
/// The largest number of threads and processes of the user namespace. Each runtime with watches has
/// a thread, and the default number of runtimes is 10,000.
const MAX_THREADS: u64 = 16_384;

fn told(what: &str) -> impl Fn(rustix::io::Errno) -> String + '_ {
    move |error| format!("{what}: {error}")
}

/// Closes stdin, which belongs to the broker. Descriptor 0 becomes a copy of stdout.
pub fn drop_stdin() {
    replace_by_stdout(libc::STDIN_FILENO);
}

/// Closes stderr, which belongs to the sidecar. Descriptor 2 becomes a copy of stdout.
pub fn drop_stderr() {
    replace_by_stdout(libc::STDERR_FILENO);
}

fn replace_by_stdout(fd: libc::c_int) {
    // SAFETY: no code of this process owns the descriptors of the standard streams. If the call
    // fails, the stream stays open, which is harmless.
    unsafe { libc::dup2(libc::STDOUT_FILENO, fd) };
}

/// Executing a file adds no right from now on.
pub fn no_new_privileges() -> Result<(), String> {
    set_no_new_privs(true).map_err(told("prctl"))
}

/// Drops every capability, and the bounding set if the process may.
pub fn drop_capabilities() -> Result<(), String> {
    keep_capabilities(CapabilitySet::empty())
}

/// Drops every capability but `kept`.
pub fn keep_capabilities(kept: CapabilitySet) -> Result<(), String> {
    for capability in 0..64 {
        // SAFETY: the call changes only this thread's bounding set. The call fails for a number
        // that no capability has, and without CAP_SETPCAP. `no_new_privs` makes a bounding set
        // that is left ineffective.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } < 0 {
            break;
        }
    }
    // SAFETY: the call changes only this thread's ambient set. Linux before 4.3 has no such set.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) };
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(told("capset"))
}

/// Bounds the resources that an escaped guest could take. The address space stays unbounded,
/// because each program reserves more than 4 GiB of it.
pub fn limit_resources(has_own_users: bool) -> Result<(), String> {
    lower(Resource::Fsize, MAX_FILE)?;
    lower(Resource::Memlock, 0)?;
    lower(Resource::Msgqueue, 0)?;
    // Outside of a user namespace the limit would count all processes of the user.
    if has_own_users { lower(Resource::Nproc, MAX_THREADS) } else { Ok(()) }
}

/// Bounds the resources of the edge process, which writes no file and makes no thread. Raises the
/// number of descriptors to the hard limit, because each connection is a descriptor.
pub fn limit_edge_resources() -> Result<(), String> {
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).map_err(told("setrlimit"))?;
    for resource in [Resource::Core, Resource::Fsize, Resource::Memlock, Resource::Msgqueue] {
        lower(resource, 0)?;
    }
    Ok(())
}

fn lower(resource: Resource, most: u64) -> Result<(), String> {
    let present = getrlimit(resource).maximum.map_or(most, |present| present.min(most));
    setrlimit(resource, Rlimit { current: Some(present), maximum: Some(present) }).map_err(told("setrlimit"))
}

/// Makes the process undumpable. Other processes of the user then cannot read its memory.
pub fn forbid_dumps() -> Result<(), String> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(told("prctl"))
}
