//! Linux error numbers. A failed system call returns the negative number to the guest. A failed
//! request of the embedder has the number's name as its code. Next: `error.rs`.

use serde::{Deserialize, Serialize};

/// A Linux error number (positive).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i32", into = "i32")]
pub struct Errno(i32);

macro_rules! numbers {
    ($($name:ident = $number:literal),+ $(,)?) => {
        #[expect(missing_docs, reason = "the names are Linux's")]
        impl Errno {
            $(pub const $name: Self = Self($number);)+

            /// Returns the number's name on Linux. Returns `EIO` for a number that is not in the
            /// table below.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($number => stringify!($name),)+
                    _ => "EIO",
                }
            }

            /// Returns the number with this name. Returns `None` for a name that is not in the
            /// table below.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self($number)),)+
                    _ => None,
                }
            }
        }
    };
}

numbers! {
    EPERM = 1, ENOENT = 2, ESRCH = 3, EINTR = 4, EIO = 5, ENXIO = 6, E2BIG = 7, ENOEXEC = 8, EBADF = 9, ECHILD = 10,
    EAGAIN = 11, ENOMEM = 12, EACCES = 13, EFAULT = 14, EBUSY = 16, EEXIST = 17, EXDEV = 18, ENODEV = 19, ENOTDIR = 20,
    EISDIR = 21, EINVAL = 22, ENFILE = 23, EMFILE = 24, ENOTTY = 25, EFBIG = 27, ENOSPC = 28, ESPIPE = 29, EROFS = 30,
    EMLINK = 31, EPIPE = 32, ERANGE = 34, EDEADLK = 35, ENAMETOOLONG = 36, ENOSYS = 38, ENOTEMPTY = 39, ELOOP = 40,
    ENODATA = 61, EPROTO = 71, EOVERFLOW = 75, EILSEQ = 84, ENOTSOCK = 88, EDESTADDRREQ = 89, EMSGSIZE = 90, EPROTOTYPE = 91,
    ENOPROTOOPT = 92, EPROTONOSUPPORT = 93, EOPNOTSUPP = 95, EAFNOSUPPORT = 97, EADDRINUSE = 98, EADDRNOTAVAIL = 99,
    ENETDOWN = 100, ENETUNREACH = 101, ECONNABORTED = 103, ECONNRESET = 104, ENOBUFS = 105, EISCONN = 106,
    ENOTCONN = 107, ETOOMANYREFS = 109, ETIMEDOUT = 110, ECONNREFUSED = 111, EHOSTUNREACH = 113, EALREADY = 114,
    EINPROGRESS = 115, ESTALE = 116, EDQUOT = 122, ECANCELED = 125, ERESTART = 512,
}

impl TryFrom<i32> for Errno {
    type Error = &'static str;

    fn try_from(number: i32) -> Result<Self, Self::Error> {
        if (1..4_096).contains(&number) { Ok(Self(number)) } else { Err("no error number") }
    }
}

impl From<Errno> for i32 {
    fn from(errno: Errno) -> Self {
        errno.0
    }
}

impl Errno {
    /// Returns the error number of a failure on the host machine. A failure without a number
    /// becomes `EACCES` if the kind is `PermissionDenied`, for example because a path would leave
    /// its folder. Any other failure without a number becomes `EIO`.
    pub fn of(error: &std::io::Error) -> Self {
        let none = if error.kind() == std::io::ErrorKind::PermissionDenied { Self::EACCES } else { Self::EIO };
        error.raw_os_error().filter(|number| (1..4_096).contains(number)).map_or(none, Self)
    }

    /// Returns a text for the number. Most texts are libuv's, as in Node's error messages. A number
    /// without a text of its own has the text of `EIO`.
    pub fn message(self) -> &'static str {
        match self {
            Self::EPERM => "operation not permitted",
            Self::ESRCH => "no such process",
            Self::ENOEXEC => "exec format error",
            Self::EBADF => "bad file descriptor",
            Self::EPIPE => "broken pipe",
            Self::E2BIG => "argument list too long",
            Self::ENOBUFS => "no buffer space available",
            Self::ENOENT => "no such file or directory",
            Self::EACCES => "permission denied",
            Self::EBUSY => "resource busy or locked",
            Self::EEXIST => "file already exists",
            Self::EXDEV => "cross-device link not permitted",
            Self::ENOTDIR => "not a directory",
            Self::EISDIR => "illegal operation on a directory",
            Self::EINVAL => "invalid argument",
            Self::EMFILE => "too many open files",
            Self::EFBIG => "file too large",
            Self::ENOSPC => "no space left on device",
            Self::EROFS => "read-only file system",
            Self::ENAMETOOLONG => "name too long",
            Self::ENOTEMPTY => "directory not empty",
            Self::EAGAIN => "resource temporarily unavailable",
            Self::ENFILE => "too many open sockets in the runtime",
            Self::ECONNREFUSED => "connection refused",
            Self::ECONNRESET => "connection reset by peer",
            Self::ELOOP => "too many symbolic links encountered",
            Self::ENODATA => "no data available",
            Self::ERANGE => "result too large",
            Self::EOPNOTSUPP => "operation not supported on socket",
            _ => "input/output error",
        }
    }

    /// Returns the negative number, which is the result of a failed system call.
    pub fn negative(self) -> i64 {
        -i64::from(self.0)
    }
}
