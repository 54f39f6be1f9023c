//! The operations of each permission scope, as bits.
//!
//! `docs/permissions.md` has a table of the calls that check each operation. A test compares that
//! table with these operations. Next: `glob.rs`.

use crate::permissions::policy::Scope;

/// A set of operations of one scope. Bit `n` means the operation at index `n` of [`names`].
pub(crate) type Operations = u32;

macro_rules! operations {
    ($($module:ident of $scope:ident: $($name:ident $text:literal),+;)+) => {
        $(
            pub(crate) mod $module {
                use super::Operations;
                operations!(@bits 0, $($name)+);
                pub(super) const NAMES: &[&str] = &[$($text),+];
            }
        )+

        /// Returns the names of a scope's operations, in the order of their bits.
        pub(crate) fn names(scope: Scope) -> &'static [&'static str] {
            match scope { $(Scope::$scope => $module::NAMES,)+ }
        }
    };
    (@bits $at:expr, $name:ident $($rest:ident)*) => {
        pub(crate) const $name: Operations = 1 << ($at);
        operations!(@bits $at + 1, $($rest)*);
    };
    (@bits $at:expr,) => {};
}

operations! {
    files of Fs:
        READ "read", WRITE "write", STAT "stat", READDIR "readdir", CREATE_DIR "create_dir", RM "rm", RENAME "rename",
        SYMLINK "symlink", LINK "link", READLINK "readlink", CHMOD "chmod", CHOWN "chown", UTIMES "utimes", TRUNCATE "truncate",
        WATCH "watch", EXECUTE "execute";
    network of Network: LISTEN "listen", CONNECT "connect", UDP "udp", DNS "dns";
    children of ChildProcess: SPAWN "spawn";
    process of Process: SIGNAL "signal", CHDIR "chdir", SETPGID "setpgid";
    env of Env: READ "read", WRITE "write";
    binding of Binding: CALL "call";
}

/// Returns all operations of a scope, as bits.
pub(crate) fn all(scope: Scope) -> Operations {
    (1 << names(scope).len()) - 1
}

/// Returns each operation of a set as a bit, with its name.
pub(crate) fn each(scope: Scope, set: Operations) -> impl Iterator<Item = (Operations, &'static str)> {
    names(scope).iter().enumerate().map(|(at, name)| (1 << at, *name)).filter(move |(bit, _)| set & bit != 0)
}
