//! Every limit of a runtime: its name in the API, default, value in the hardened profile, and
//! range.
//!
//! This table is the only place with these numbers. `crates/sidecar` and `crates/node` only forward
//! names and values. `docs/limits.md` shows the table and describes the effect of each limit. A
//! test compares the table with that page and with the SDK's options. Next: `usage/`, which counts
//! the use of the limits.

use coldframe_error::Error;
use std::time::Duration;

macro_rules! limits {
    ($($(#[$doc:meta])* $field:ident $name:literal = $default:expr, hardened $hardened:expr, $least:literal to $most:expr;)*) => {
        /// The limits of one runtime.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct Limits { $($(#[$doc])* pub $field: u64,)* }

        impl Limits {
            const DEFAULT: Self = Self { $($field: $default,)* };
            const HARDENED: Self = Self { $($field: $hardened,)* };

            /// The names of all limits, in the order of the table.
            pub const NAMES: &[&str] = &[$($name),*];

            /// Sets the limit `name`. Fails if the name is unknown or the value is out of range.
            /// The error has the expected values.
            pub fn set(&mut self, name: &str, value: u64) -> Result<(), Error> {
                match name {
                    $($name => self.$field = within($name, value, $least, $most)?,)*
                    _ => return Err(unknown(name, Self::NAMES)),
                }
                Ok(())
            }

            /// Returns the value of the limit `name`, or 0 for an unknown name.
            pub fn value(&self, name: &str) -> u64 {
                match name {
                    $($name => self.$field,)*
                    _ => 0,
                }
            }
        }
    };
}

limits! {
    /// Bytes of linear memory of one process, image included.
    memory_bytes "memoryBytes" = 128 << 20, hardened 64 << 20, 1 to 2 << 30;
    /// Bytes of linear memory of all processes together, images included.
    total_memory_bytes "totalMemoryBytes" = 4 << 30, hardened 512 << 20, 1 to 1 << 40;
    /// Bytes of kernel memory for programs. Linear memory, files and the buffers of pipes and
    /// sockets have limits of their own.
    kernel_bytes "kernelBytes" = 128 << 20, hardened 16 << 20, 65_536 to 1 << 40;
    /// CPU time of one process (for a runner: of one evaluation), in milliseconds. The CPU time of
    /// a child also counts for the child's root program.
    cpu_ms "cpuMs" = 30_000, hardened 10_000, 1 to 2_147_483_647;
    /// Wall time of a program (for a runner: of an evaluation) that has no timeout, in
    /// milliseconds; 0 means no limit.
    wall_ms "wallMs" = 0, hardened 60_000, 0 to 2_147_483_647;
    /// CPU time of all processes of the runtime together since its creation, in milliseconds; 0
    /// means no limit.
    runtime_cpu_ms "runtimeCpuMs" = 0, hardened 0, 0 to 2_147_483_647;
    /// Wall time of the runtime since its creation, without the time in which the runtime was
    /// paused, in milliseconds; 0 means no limit.
    runtime_wall_ms "runtimeWallMs" = 0, hardened 0, 0 to 2_147_483_647;
    /// Processes that may exist, including ended processes that no parent has waited for.
    processes "processes" = 256, hardened 32, 1 to 65_536;
    /// Descriptors that one process may have open.
    descriptors "descriptors" = 256, hardened 128, 3 to 65_536;
    /// Pipes, which are pairs of connected ends. The defaults allow three pipes for each process.
    pipes "pipes" = 768, hardened 96, 0 to 196_608;
    /// Bytes that may wait in each direction of a pipe.
    pipe_bytes "pipeBytes" = 64 << 10, hardened 64 << 10, 4_096 to 16 << 20;
    /// Terminals that a runtime may have.
    terminals "terminals" = 64, hardened 8, 0 to 4_096;
    /// Sockets that a runtime may have.
    sockets "sockets" = 256, hardened 64, 0 to 65_536;
    /// Bytes that may wait in each direction of a connection, or at a datagram socket.
    socket_bytes "socketBytes" = 64 << 10, hardened 64 << 10, 4_096 to 16 << 20;
    /// Bytes of all files and links in memory.
    filesystem_bytes "filesystemBytes" = 64 << 20, hardened 32 << 20, 0 to 1 << 40;
    /// Files, directories and links that may exist in memory.
    inodes "inodes" = 16_384, hardened 4_096, 0 to 1 << 24;
    /// Files and directories of mounted host directories that may be open.
    host_files "hostFiles" = 256, hardened 64, 0 to 65_536;
    /// Watches on files and directories.
    watches "watches" = 1_024, hardened 64, 0 to 65_536;
    /// Operations that one process may have in progress.
    operations "operations" = 16_384, hardened 2_048, 16 to 1 << 20;
    /// Bytes of the arguments of one process.
    argv_bytes "argvBytes" = 1 << 20, hardened 128 << 10, 4_096 to 16 << 20;
    /// Bytes of the environment of one process.
    env_bytes "envBytes" = 1 << 20, hardened 128 << 10, 4_096 to 16 << 20;
    /// Bytes of standard input that may wait for one process.
    stdin_bytes "stdinBytes" = 16 << 20, hardened 1 << 20, 0 to 2_147_483_647;
    /// Bytes of captured output of one descriptor of one process; output beyond the limit is cut
    /// off.
    output_bytes "outputBytes" = 16 << 20, hardened 1 << 20, 0 to 2_147_483_647;
    /// Bytes of JSON text that a program may return.
    result_bytes "resultBytes" = 16 << 20, hardened 1 << 20, 0 to 16 << 20;
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Limits {
    /// Returns the limits of a profile. Fails if `name` is neither `default` nor `hardened`.
    pub fn of_profile(name: &str) -> Result<Self, Error> {
        match name {
            "default" => Ok(Self::DEFAULT),
            "hardened" => Ok(Self::HARDENED),
            other => {
                let received = format!("{:?}", other.chars().take(100).collect::<String>());
                Err(Error::InvalidRequest {
                    what: "limits.profile".to_owned(),
                    expected: "default or hardened".to_owned(),
                    received,
                })
            }
        }
    }

    /// Returns the limits of a profile, with the limits in `values` replaced. `None` means the
    /// default profile. Fails like [`Self::of_profile`] and [`Self::set`].
    pub fn build<'a>(profile: Option<&str>, values: impl IntoIterator<Item = (&'a str, u64)>) -> Result<Self, Error> {
        let mut limits = profile.map_or(Ok(Self::DEFAULT), Self::of_profile)?;
        values.into_iter().try_for_each(|(name, value)| limits.set(name, value))?;
        Ok(limits)
    }

    /// The names of the limits that a program may have below its runtime's limits.
    pub const OF_PROGRAMS: [&str; 4] = ["memoryBytes", "cpuMs", "outputBytes", "resultBytes"];

    /// Lowers the limit `name` for one program. Fails if programs have no limit of this name, or if
    /// the value is out of range or larger than the runtime's limit. The error has the expected
    /// values.
    pub fn lower(&mut self, name: &str, value: u64) -> Result<(), Error> {
        if !Self::OF_PROGRAMS.contains(&name) {
            return Err(unknown(name, &Self::OF_PROGRAMS));
        }
        let most = self.value(name);
        within(name, value, 0, most)?;
        self.set(name, value)
    }

    /// Returns the limits of a program in a runtime with the limits `self`. `own` has the names and
    /// values of the program's limits, which a snapshot may have stored under larger limits.
    pub fn with_own<'a>(&self, own: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        let mut limits = *self;
        for (name, value) in own {
            let _ = limits.lower(name, value.min(self.value(name)));
        }
        limits
    }

    /// Returns the names and values of the limits that are below `runtime`'s.
    pub fn own(&self, runtime: &Self) -> Vec<(String, u64)> {
        let lower = Self::OF_PROGRAMS.into_iter().filter(|name| self.value(name) < runtime.value(name));
        lower.map(|name| (name.to_owned(), self.value(name))).collect()
    }

    /// Returns the time limit of a program or an evaluation that has no timeout. Returns `None` if
    /// no limit is set.
    pub fn wall(&self) -> Option<Duration> {
        (self.wall_ms > 0).then(|| Duration::from_millis(self.wall_ms))
    }

    /// Checks that a program can start. The limits of memory must allow the image and at least 1
    /// MiB more, and `cpuMs` must not be 0.
    pub fn check(&self, image_len: u64) -> Result<(), Error> {
        /// The minimum linear memory of a program besides the image.
        const LEAST_HEAP: u64 = 1 << 20;
        const MOST: u64 = 2 << 30;
        let least = image_len + LEAST_HEAP;
        within("memoryBytes", self.memory_bytes, least, MOST)?;
        within("totalMemoryBytes", self.total_memory_bytes, least, u64::MAX)?;
        within("cpuMs", self.cpu_ms, 1, u64::MAX).map(drop)
    }
}

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<u64, Error> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let expected = if most == u64::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
    Err(Error::InvalidRequest { what: format!("limits.{name}"), expected, received: value.to_string() })
}

fn unknown(name: &str, known: &[&str]) -> Error {
    let name: String = name.chars().take(100).collect();
    let expected = format!("one of {}", known.join(", "));
    Error::InvalidRequest { what: format!("limits.{name}"), expected, received: "an unknown name".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hardened_profile_allows_at_most_the_default_limits() {
        let both = Limits::NAMES.iter().map(|name| (name, Limits::DEFAULT, Limits::HARDENED));
        for (name, default, hardened) in both {
            // Each profile's own values are in the range that a user may set.
            for profile in [default, hardened] {
                let mut copy = profile;
                let value = profile.value(name);
                copy.set(name, value).expect(name);
                assert_eq!(copy, profile);
            }
            let (hardened, default) = (hardened.value(name), default.value(name));
            // A `wallMs` of 0 means no limit.
            assert!(hardened <= default || (*name == "wallMs" && default == 0), "{name}");
        }
    }

    #[test]
    fn sets_a_limit_by_name_within_its_range() {
        let limits = Limits::build(Some("hardened"), [("processes", 2), ("wallMs", 0)]).expect("valid limits");
        assert_eq!(limits, Limits { processes: 2, wall_ms: 0, ..Limits::HARDENED });
        let what = |error: Error| if let Error::InvalidRequest { what, .. } = error { what } else { error.to_string() };
        assert_eq!(what(Limits::build(None, [("memory", 1)]).expect_err("unknown")), "limits.memory");
        assert_eq!(what(Limits::build(None, [("descriptors", 2)]).expect_err("too few")), "limits.descriptors");
        assert_eq!(what(Limits::build(Some("loose"), []).expect_err("no profile")), "limits.profile");
    }

    #[test]
    fn lowers_limits_of_programs_and_refuses_others() {
        let runtime = Limits { cpu_ms: 500, ..Limits::default() };
        let mut limits = runtime;
        limits.lower("cpuMs", 50).expect("below the runtime's");
        assert_eq!((limits.cpu_ms, limits.memory_bytes), (50, runtime.memory_bytes));
        assert_eq!(limits.own(&runtime), [("cpuMs".to_owned(), 50)]);
        let what = |error: Error| if let Error::InvalidRequest { what, .. } = error { what } else { error.to_string() };
        let mut limits = runtime;
        assert_eq!(what(limits.lower("cpuMs", 501).expect_err("above the runtime's")), "limits.cpuMs");
        assert_eq!(what(limits.lower("cpuMs", 0).expect_err("below the range")), "limits.cpuMs");
        assert_eq!(what(limits.lower("processes", 1).expect_err("no limit of a program")), "limits.processes");
        assert_eq!(limits, runtime);
    }

    #[test]
    fn a_restored_program_has_the_lower_of_its_own_and_the_runtimes_limits() {
        let runtime = Limits { cpu_ms: 500, output_bytes: 10, ..Limits::default() };
        let own = [("cpuMs", 50), ("outputBytes", 1_000), ("processes", 1)];
        assert_eq!(runtime.with_own(own), Limits { cpu_ms: 50, ..runtime });
    }
}
