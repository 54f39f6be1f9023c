//! Converts the kernel's error numbers, which are Linux's, to WASI's error numbers.

use coldframe_error::Errno;

/// The result of a call that succeeded.
pub(super) const SUCCESS: i32 = 0;

/// Returns WASI's number of an error. An error without a number of its own becomes `EIO`.
pub(super) fn number(errno: Errno) -> i32 {
    match errno {
        Errno::E2BIG => 1,
        Errno::EACCES => 2,
        Errno::EADDRINUSE => 3,
        Errno::EADDRNOTAVAIL => 4,
        Errno::EAFNOSUPPORT => 5,
        Errno::EAGAIN => 6,
        Errno::EALREADY => 7,
        Errno::EBADF => 8,
        Errno::EBUSY => 10,
        Errno::ECANCELED => 11,
        Errno::ECHILD => 12,
        Errno::ECONNABORTED => 13,
        Errno::ECONNREFUSED => 14,
        Errno::ECONNRESET => 15,
        Errno::EDEADLK => 16,
        Errno::EDESTADDRREQ => 17,
        Errno::EDQUOT => 19,
        Errno::EEXIST => 20,
        Errno::EFAULT => 21,
        Errno::EFBIG => 22,
        Errno::EHOSTUNREACH => 23,
        Errno::EILSEQ => 25,
        Errno::EINPROGRESS => 26,
        Errno::EINTR => 27,
        Errno::EINVAL => 28,
        Errno::EISCONN => 30,
        Errno::EISDIR => 31,
        Errno::ELOOP => 32,
        Errno::EMFILE => 33,
        Errno::EMLINK => 34,
        Errno::EMSGSIZE => 35,
        Errno::ENAMETOOLONG => 37,
        Errno::ENETDOWN => 38,
        Errno::ENETUNREACH => 40,
        Errno::ENFILE => 41,
        Errno::ENOBUFS | Errno::ETOOMANYREFS => 42,
        Errno::ENODEV => 43,
        Errno::ENOENT => 44,
        Errno::ENOEXEC => 45,
        Errno::ENOMEM => 48,
        Errno::ENOPROTOOPT => 50,
        Errno::ENOSPC => 51,
        Errno::ENOSYS => 52,
        Errno::ENOTCONN => 53,
        Errno::ENOTDIR => 54,
        Errno::ENOTEMPTY => 55,
        Errno::ENOTSOCK => 57,
        Errno::EOPNOTSUPP => 58,
        Errno::ENOTTY => 59,
        Errno::ENXIO => 60,
        Errno::EOVERFLOW => 61,
        Errno::EPERM => 63,
        Errno::EPIPE => 64,
        Errno::EPROTO => 65,
        Errno::EPROTONOSUPPORT => 66,
        Errno::EPROTOTYPE => 67,
        Errno::ERANGE => 68,
        Errno::EROFS => 69,
        Errno::ESPIPE => 70,
        Errno::ESRCH => 71,
        Errno::ESTALE => 72,
        Errno::ETIMEDOUT => 73,
        Errno::EXDEV => 75,
        _ => 29,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn two_errors_share_no_number_but_that_of_eio() {
        let mut seen = HashMap::new();
        for linux in 1..=133 {
            let Ok(errno) = Errno::try_from(linux) else { continue };
            if errno == Errno::ETOOMANYREFS {
                continue;
            }
            let number = number(errno);
            assert!((1..=76).contains(&number), "{errno:?}");
            let other = seen.insert(number, errno);
            assert!(number == 29 || other.is_none(), "{errno:?} and {other:?} are {number}");
        }
        assert_eq!([Errno::ENOENT, Errno::EBADF, Errno::EIO].map(number), [44, 8, 29]);
    }
}
