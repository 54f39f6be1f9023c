//! The filters of system calls: lists of the calls that the sidecar and the broker make. Every
//! other call fails with `ENOSYS`, with which a newer C library falls back to older calls. A call
//! of another architecture ends the process.
//!
//! The lists come from reading and from observation (`strace` over the tests), for glibc and for
//! musl. After the filter is installed no memory becomes executable, threads are the only clones,
//! and no call names another process.
//!
//! A change of the sidecar or of a library may need another call. `docs/walls.md` describes how
//! to find the call.

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads,
};
use std::collections::BTreeMap;

/// A filter: calls with any arguments, and calls with checked arguments.
pub struct Filter {
    plain: &'static [c_long],
    checked: fn() -> Vec<CheckedCall>,
}

/// A condition on one argument: its index, and the check.
type Condition = (u8, Check);

/// A call, and the alternatives for its arguments. All conditions of one alternative must hold.
type CheckedCall = (c_long, Vec<Vec<Condition>>);

#[derive(Clone, Copy)]
enum Check {
    /// The argument is a number of 32 bits.
    Is(u64),
    /// The argument is a number of 64 bits.
    IsLong(u64),
    /// The argument has none of these bits. One bit only.
    Lacks(u64),
}

/// The filter of the sidecar.
pub static SIDECAR: &Filter = &Filter { plain: SIDECAR_CALLS, checked: sidecar_arguments };
/// The filter of the broker.
pub static BROKER: &Filter = &Filter { plain: BROKER_CALLS, checked: shared_arguments };

/// Memory, threads, time and signals of the own process, and descriptors.
const SHARED_CALLS: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_fsync,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_recvmsg,
    libc::SYS_renameat,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    libc::SYS_write,
];

/// Older calls, which the C library makes on this processor.
#[cfg(target_arch = "x86_64")]
const OLDER_CALLS: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_lstat,
    libc::SYS_open,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_stat,
    libc::SYS_unlink,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: &[c_long] = &[];

#[cfg(target_arch = "x86_64")]
const OLDER_SIDECAR_CALLS: &[c_long] = &[libc::SYS_chmod, libc::SYS_mkdir];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_SIDECAR_CALLS: &[c_long] = &[];

const SIDECAR_CALLS: &[c_long] = &[
    libc::SYS_copy_file_range,
    libc::SYS_eventfd2,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fallocate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fdatasync,
    libc::SYS_flock,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getppid,
    libc::SYS_getrusage,
    libc::SYS_getuid,
    libc::SYS_inotify_add_watch,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_rm_watch,
    libc::SYS_linkat,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mkdirat,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_preadv,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_renameat2,
    libc::SYS_rseq,
    libc::SYS_sendfile,
    libc::SYS_sendto,
    libc::SYS_set_robust_list,
    libc::SYS_statfs,
    libc::SYS_symlinkat,
    libc::SYS_sysinfo,
    libc::SYS_utimensat,
    libc::SYS_writev,
];

/// The broker passes clones of mounts.
const BROKER_CALLS: &[c_long] = &[libc::SYS_open_tree, libc::SYS_mount_setattr];

/// Calls of which only some arguments are needed by both processes.
fn shared_arguments() -> Vec<CheckedCall> {
    let not_executable = || vec![vec![(2, Check::Lacks(libc::PROT_EXEC as u64))]];
    let one_of = |index, values: &[u64]| values.iter().map(|value| vec![(index, Check::Is(*value))]).collect();
    vec![
        (libc::SYS_mmap, not_executable()),
        (libc::SYS_mprotect, not_executable()),
        // `abort` signals its own process.
        (libc::SYS_tgkill, vec![vec![(0, Check::Is(std::process::id().into()))]]),
        (
            libc::SYS_fcntl,
            one_of(
                1,
                &[
                    libc::F_DUPFD_CLOEXEC as u64,
                    libc::F_GETFD as u64,
                    libc::F_SETFD as u64,
                    libc::F_GETFL as u64,
                    libc::F_SETFL as u64,
                    libc::F_OFD_SETLK as u64,
                    libc::F_OFD_GETLK as u64,
                    libc::F_ADD_SEALS as u64,
                    libc::F_GET_SEALS as u64,
                ],
            ),
        ),
    ]
}

/// `PAGEMAP_SCAN` of `linux/fs.h`: the code of a call that reads and writes 96 bytes.
const PAGEMAP_SCAN: u64 = 0xc060_6610;
/// The flags with which glibc makes a thread.
const THREAD: u64 = 0x003d_0f00;
/// musl adds an obsolete flag.
const THREAD_OF_MUSL: u64 = 0x007d_0f00;
/// Names an anonymous mapping.
const PR_SET_VMA: u64 = 0x5356_4d41;

fn sidecar_arguments() -> Vec<CheckedCall> {
    let one_of = |index, values: &[u64]| values.iter().map(|value| vec![(index, Check::Is(*value))]).collect();
    let mut all = shared_arguments();
    all.extend([
        (libc::SYS_clone, vec![vec![(0, Check::IsLong(THREAD))], vec![(0, Check::IsLong(THREAD_OF_MUSL))]]),
        (libc::SYS_ioctl, one_of(1, &[PAGEMAP_SCAN, libc::FIOCLEX, libc::FIONBIO])),
        (libc::SYS_prctl, one_of(0, &[libc::PR_SET_NAME as u64, PR_SET_VMA])),
        // The processors of the own thread.
        (libc::SYS_sched_getaffinity, vec![vec![(0, Check::Is(0))]]),
        // The limits of the own process, for reading.
        (libc::SYS_prlimit64, vec![vec![(0, Check::Is(0)), (2, Check::IsLong(0))]]),
        // The priority of the own thread.
        (libc::SYS_setpriority, vec![vec![(0, Check::Is(libc::PRIO_PROCESS.into())), (1, Check::Is(0))]]),
    ]);
    all
}

/// Installs a filter for all threads of the process.
pub fn install(filter: &Filter) -> Result<(), String> {
    let program = compile(filter).map_err(|error| error.to_string())?;
    apply_filter_all_threads(&program).map_err(|error| error.to_string())
}

fn compile(filter: &Filter) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules = BTreeMap::new();
    let is_broker = std::ptr::eq(filter.plain, BROKER_CALLS);
    let own = if is_broker { &[][..] } else { OLDER_SIDECAR_CALLS };
    for call in SHARED_CALLS.iter().chain(OLDER_CALLS).chain(own).chain(filter.plain) {
        rules.insert(*call, Vec::new());
    }
    for (call, alternatives) in (filter.checked)() {
        let rule =
            |conditions: Vec<Condition>| SeccompRule::new(conditions.into_iter().map(condition).collect::<Result<_, _>>()?);
        rules.insert(call, alternatives.into_iter().map(rule).collect::<Result<_, _>>()?);
    }
    let refused = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let program: BpfProgram = SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)?.try_into()?;
    Ok(with_architecture(program))
}

fn condition((index, check): Condition) -> Result<SeccompCondition, seccompiler::BackendError> {
    match check {
        Check::Is(value) => SeccompCondition::new(index, Len::Dword, Op::Eq, value),
        Check::IsLong(value) => SeccompCondition::new(index, Len::Qword, Op::Eq, value),
        Check::Lacks(bit) => SeccompCondition::new(index, Len::Qword, Op::MaskedEq(bit), 0),
    }
}

/// Adds the end of the process for calls of x32, which have the architecture of x86-64.
fn with_architecture(program: BpfProgram) -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return program;
    }
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jf, k| seccompiler::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut all = vec![
        // The number of the call is the first field of `struct seccomp_data`.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_KILL_PROCESS),
    ];
    all.extend(program);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_filters_compile_and_fit_into_a_program() {
        for filter in [SIDECAR, BROKER] {
            let program = compile(filter).expect("a program");
            assert!((100..4_096).contains(&program.len()), "{}", program.len());
        }
    }

    #[test]
    fn no_call_is_in_a_list_twice() {
        for filter in [SIDECAR, BROKER] {
            let mut calls: Vec<c_long> = [SHARED_CALLS, OLDER_CALLS, OLDER_SIDECAR_CALLS, filter.plain].concat();
            calls.extend((filter.checked)().iter().map(|(call, _)| *call));
            let len = calls.len();
            calls.sort_unstable();
            calls.dedup();
            assert_eq!(calls.len(), len);
        }
    }
}
