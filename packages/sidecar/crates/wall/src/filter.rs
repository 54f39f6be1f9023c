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

use crate::program::{Alternatives, Check, Program, Rule};
use libc::{c_long, c_ulong, sock_fprog};
use std::io;

/// The rules of the sidecar.
const SIDECAR_RULES: &[Rule] = &[
    (SHARED_CALLS, &[]),
    (OLDER_CALLS, &[]),
    (OLDER_SIDECAR_CALLS, &[]),
    (SIDECAR_CALLS, &[]),
    (&[libc::SYS_mmap, libc::SYS_mprotect], NOT_EXECUTABLE),
    (&[libc::SYS_tgkill], OWN_PROCESS),
    (&[libc::SYS_fcntl], FCNTL),
    (&[libc::SYS_clone], &[&[(0, Check::IsLong(THREAD))], &[(0, Check::IsLong(THREAD_OF_MUSL))]]),
    (
        &[libc::SYS_ioctl],
        &[&[(1, Check::Is(PAGEMAP_SCAN))], &[(1, Check::Is(libc::FIOCLEX as u32))], &[(1, Check::Is(libc::FIONBIO as u32))]],
    ),
    (&[libc::SYS_prctl], &[&[(0, Check::Is(libc::PR_SET_NAME as u32))], &[(0, Check::Is(PR_SET_VMA))]]),
    // The processors of the own thread.
    (&[libc::SYS_sched_getaffinity], &[&[(0, Check::Is(0))]]),
    // The limits of the own process, for reading.
    (&[libc::SYS_prlimit64], &[&[(0, Check::Is(0)), (2, Check::IsLong(0))]]),
    // The priority of the own thread.
    (&[libc::SYS_setpriority], &[&[(0, Check::Is(libc::PRIO_PROCESS)), (1, Check::Is(0))]]),
];

/// The rules of the broker.
const BROKER_RULES: &[Rule] = &[
    (SHARED_CALLS, &[]),
    (OLDER_CALLS, &[]),
    (BROKER_CALLS, &[]),
    (&[libc::SYS_mmap, libc::SYS_mprotect], NOT_EXECUTABLE),
    (&[libc::SYS_tgkill], OWN_PROCESS),
    (&[libc::SYS_fcntl], FCNTL),
];

/// The rules of the edge process: sockets of IPv4 and IPv6, and no path.
const EDGE_RULES: &[Rule] = &[
    (EDGE_CALLS, &[]),
    (OLDER_EDGE_CALLS, &[]),
    (&[libc::SYS_mmap, libc::SYS_mprotect], NOT_EXECUTABLE),
    (&[libc::SYS_tgkill], OWN_PROCESS),
    (
        &[libc::SYS_socket],
        &[
            &[(0, Check::Is(libc::AF_INET as u32)), (1, Check::Is(STREAM))],
            &[(0, Check::Is(libc::AF_INET as u32)), (1, Check::Is(DATAGRAM))],
            &[(0, Check::Is(libc::AF_INET6 as u32)), (1, Check::Is(STREAM))],
            &[(0, Check::Is(libc::AF_INET6 as u32)), (1, Check::Is(DATAGRAM))],
        ],
    ),
];

/// The filter of the sidecar.
pub static SIDECAR: Program = Program::new(SIDECAR_RULES);
/// The filter of the broker.
pub static BROKER: Program = Program::new(BROKER_RULES);

/// The filter of the edge process.
pub static EDGE: Program = Program::new(EDGE_RULES);

/// Memory, time, and descriptors that are open, and sockets. The edge has one thread.
const EDGE_CALLS: &[c_long] = &[
    libc::SYS_bind,
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_connect,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_futex,
    libc::SYS_getpeername,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

#[cfg(target_arch = "x86_64")]
const OLDER_EDGE_CALLS: &[c_long] = &[libc::SYS_epoll_wait];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_EDGE_CALLS: &[c_long] = &[];

/// The types of sockets as tokio makes them.
const STREAM: u32 = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u32;
const DATAGRAM: u32 = (libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u32;

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

const NOT_EXECUTABLE: Alternatives = &[&[(2, Check::Lacks(libc::PROT_EXEC as u32))]];
/// `abort` signals its own process.
const OWN_PROCESS: Alternatives = &[&[(0, Check::IsOwnProcess)]];
const FCNTL: Alternatives = &[
    &[(1, Check::Is(libc::F_DUPFD_CLOEXEC as u32))],
    &[(1, Check::Is(libc::F_GETFD as u32))],
    &[(1, Check::Is(libc::F_SETFD as u32))],
    &[(1, Check::Is(libc::F_GETFL as u32))],
    &[(1, Check::Is(libc::F_SETFL as u32))],
    &[(1, Check::Is(libc::F_OFD_SETLK as u32))],
    &[(1, Check::Is(libc::F_OFD_GETLK as u32))],
    &[(1, Check::Is(libc::F_ADD_SEALS as u32))],
    &[(1, Check::Is(libc::F_GET_SEALS as u32))],
];

/// `PAGEMAP_SCAN` of `linux/fs.h`: the code of a call that reads and writes 96 bytes.
const PAGEMAP_SCAN: u32 = 0xc060_6610;
/// The flags with which glibc makes a thread.
const THREAD: u64 = 0x003d_0f00;
/// musl adds an obsolete flag.
const THREAD_OF_MUSL: u64 = 0x007d_0f00;
/// Names an anonymous mapping.
const PR_SET_VMA: u32 = 0x5356_4d41;

/// Installs a filter for all threads of the process.
pub fn install(filter: &Program) -> Result<(), String> {
    let mut steps = filter.steps(std::process::id());
    let len = u16::try_from(steps.len()).map_err(|_| "the filter is too long".to_owned())?;
    let program = sock_fprog { len, filter: steps.as_mut_ptr() };
    let (operation, flags) = (c_ulong::from(libc::SECCOMP_SET_MODE_FILTER), libc::SECCOMP_FILTER_FLAG_TSYNC);
    // SAFETY: the program and its steps outlive the call, which only reads them.
    match unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) } {
        0 => Ok(()),
        thread @ 1.. => Err(format!("seccomp: thread {thread} has another filter")),
        _ => Err(format!("seccomp: {}", io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::tests::allows;

    #[test]
    fn a_filter_has_few_steps() {
        // The number of steps is a cost of each start.
        for (filter, most) in [(&SIDECAR, 160), (&BROKER, 110), (&EDGE, 110)] {
            let steps = filter.steps(1).len();
            assert!((50..most).contains(&steps), "{steps} steps");
        }
    }

    #[test]
    fn allows_the_calls_of_the_list_and_no_other_call() {
        for (filter, rules) in [(&SIDECAR, SIDECAR_RULES), (&BROKER, BROKER_RULES), (&EDGE, EDGE_RULES)] {
            for number in 0..1_000 {
                let rule = rules.iter().find(|(calls, _)| calls.contains(&number));
                // No alternative has the value of these arguments.
                let expected = rule.is_some_and(|(_, alternatives)| alternatives.is_empty());
                assert_eq!(allows(filter, number, [u64::MAX; 6]), expected, "{number}");
            }
        }
    }

    #[test]
    fn memory_does_not_become_executable() {
        let (data, code) = (libc::PROT_READ | libc::PROT_WRITE, libc::PROT_READ | libc::PROT_EXEC);
        for filter in [&SIDECAR, &BROKER, &EDGE] {
            for call in [libc::SYS_mmap, libc::SYS_mprotect] {
                let with = |protection: i32| allows(filter, call, [0, 4096, protection as u64, 0, 0, 0]);
                assert_eq!((with(data), with(code), with(libc::PROT_EXEC)), (true, false, false));
            }
        }
    }

    #[test]
    fn the_edge_makes_sockets_of_the_internet_and_opens_no_path() {
        let types = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET];
        for family in 0..46 {
            for kind in types.map(|kind| kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) {
                let expected = [libc::AF_INET, libc::AF_INET6].contains(&family) && [STREAM, DATAGRAM].contains(&(kind as u32));
                let allowed = allows(&EDGE, libc::SYS_socket, [family as u64, kind as u64, 0, 0, 0, 0]);
                assert_eq!(allowed, expected, "{family} {kind}");
            }
        }
        let refused = [
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_listen,
            libc::SYS_accept4,
            libc::SYS_socketpair,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_prctl,
            libc::SYS_ioctl,
            libc::SYS_fcntl,
            libc::SYS_unlinkat,
        ];
        assert_eq!(refused.map(|call| allows(&EDGE, call, [0; 6])), [false; 15]);
    }

    #[test]
    fn threads_are_the_only_clones_and_signals_stay_in_the_process() {
        let own = u64::from(crate::program::tests::PROCESS);
        for (call, first, expected) in [
            (libc::SYS_clone, THREAD, true),
            (libc::SYS_clone, THREAD_OF_MUSL, true),
            (libc::SYS_clone, libc::SIGCHLD as u64, false),
            (libc::SYS_clone, THREAD | libc::CLONE_NEWUSER as u64, false),
            (libc::SYS_clone3, 0, false),
            (libc::SYS_tgkill, own, true),
            (libc::SYS_tgkill, own + 1, false),
            (libc::SYS_kill, own, false),
        ] {
            assert_eq!(allows(&SIDECAR, call, [first, 0, 0, 0, 0, 0]), expected, "{call} {first:x}");
        }
    }
}
