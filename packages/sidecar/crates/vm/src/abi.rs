//! The guest ABI in Rust: state block, events, start and restore blocks
//! (`docs/internals/guest-abi.md`). Next: `lib.rs`.

/// Results of failed imports.
pub mod errno {
    /// A bad address.
    pub const EFAULT: i32 = -14;
    /// An unknown function.
    pub const ENOSYS: i32 = -38;
    /// ENOSYS in WASI's numbering.
    pub const WASI_ENOSYS: i32 = 52;
}

/// The length of the state block in bytes.
pub const STATE_LEN: usize = 48;

/// The guest's state after a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Whether the program has exited.
    pub exited: bool,
    /// The exit code of the program.
    pub exit_code: i32,
    /// The time of the next timer in milliseconds of the monotonic clock, or a negative number.
    pub timer_at: f64,
    /// The reason of the exit. 0 is the program's own exit.
    pub exit_reason: u32,
    /// The address of the value of a program or of an evaluation.
    pub value_ptr: u32,
    /// The length of the value in bytes.
    pub value_len: u32,
    /// The ended evaluation. 0 if none has ended.
    pub eval_done: u32,
    /// The exit code of the evaluation.
    pub eval_exit_code: i32,
    /// The reason of the evaluation's end, like `exit_reason`.
    pub eval_reason: u32,
}

/// The value of `exit_reason` and `eval_reason` for missing memory.
pub const REASON_MEMORY: u32 = 2;

impl State {
    /// Reads the state block.
    pub fn decode(block: &[u8; STATE_LEN]) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
        let timer = u64::from(u32_at(8)) | u64::from(u32_at(12)) << 32;
        Self {
            exited: u32_at(0) == 1,
            exit_code: u32_at(4) as i32,
            timer_at: f64::from_bits(timer),
            exit_reason: u32_at(16),
            value_ptr: u32_at(20),
            value_len: u32_at(24),
            eval_done: u32_at(28),
            eval_exit_code: u32_at(32) as i32,
            eval_reason: u32_at(36),
        }
    }
}

/// An event for the guest.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The start of a program.
    Start {
        /// The mode of the program.
        mode: u32,
        /// The encoded [`Start`].
        block: &'a [u8],
    },
    /// The time of `timer_at` has passed.
    Timer,
    /// The completion of an operation.
    Complete {
        /// The operation.
        operation: u32,
        /// A value, or a negative error number.
        result: i32,
        /// The bytes of the result.
        bytes: &'a [u8],
    },
    /// The start of an evaluation.
    Eval {
        /// The evaluation.
        id: u32,
        /// The code.
        source: &'a str,
    },
    /// The restore of the memory from a snapshot.
    Restore {
        /// The encoded [`Restore`].
        block: &'a [u8],
    },
}

impl Event<'_> {
    /// Appends the event in the layout of the inbox.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (kind, id, result, payload): (u32, u32, i32, &[u8]) = match self {
            Self::Start { mode, block } => (1, *mode, 0, block),
            Self::Timer => (2, 0, 0, &[]),
            Self::Complete { operation, result, bytes } => (3, *operation, *result, bytes),
            Self::Eval { id, source } => (4, *id, 0, source.as_bytes()),
            Self::Restore { block } => (5, 0, 0, block),
        };
        for number in [kind, id, result as u32, payload.len() as u32] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(payload);
        out.resize(out.len().next_multiple_of(8), 0);
    }
}

/// The start block: the parameters of a program.
pub struct Start<'a> {
    /// The process.
    pub pid: u32,
    /// The parent process.
    pub ppid: u32,
    /// The working directory.
    pub cwd: &'a str,
    /// The URL of the entry module.
    pub url: &'a str,
    /// The code.
    pub source: &'a str,
    /// The arguments.
    pub argv: &'a [String],
    /// The environment.
    pub env: &'a [(String, String)],
    /// Options of Node itself, `process.execArgv`.
    pub exec_argv: &'a [String],
}

impl Start<'_> {
    /// Encodes the block.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256 + self.source.len());
        let counts = [self.argv.len() as u32, self.env.len() as u32, self.exec_argv.len() as u32];
        for number in [self.pid, self.ppid].into_iter().chain(counts) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let mut string = |parts: &[&str]| push_string(&mut out, parts);
        string(&[self.cwd]);
        string(&[self.url]);
        string(&[self.source]);
        for argument in self.argv {
            string(&[argument]);
        }
        for (key, value) in self.env {
            string(&[key, "=", value]);
        }
        for option in self.exec_argv {
            string(&[option]);
        }
        out
    }
}

/// The payload of a RESTORE event: the changes since the snapshot.
#[derive(Debug, Clone, Default)]
pub struct Restore {
    /// The process.
    pub pid: u32,
    /// The parent process.
    pub ppid: u32,
    /// The time since the snapshot by the wall clock, in milliseconds.
    pub elapsed_ms: f64,
    /// Environment variables to set or to remove.
    pub env: Vec<(String, Option<String>)>,
}

impl Restore {
    /// Encodes the block.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        for number in [self.pid, self.ppid, self.env.len() as u32, 0] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.elapsed_ms.to_le_bytes());
        for (key, value) in &self.env {
            match value {
                Some(value) => push_string(&mut out, &[key, "=", value]),
                None => push_string(&mut out, &[key]),
            }
        }
        out
    }
}

/// Appends a string: length, bytes, a NUL, padding to 4.
fn push_string(out: &mut Vec<u8>, parts: &[&str]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    out.extend_from_slice(&(len as u32).to_le_bytes());
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
    out.push(0);
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lays_out_a_restore_block_as_documented() {
        let env = vec![("A".to_owned(), Some("1".to_owned())), ("B".to_owned(), None)];
        let block = Restore { pid: 7, ppid: 1, elapsed_ms: 0.5, env }.encode();
        let expected: &[u8] = b"\x07\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\xe0\x3f\x03\0\0\0A=1\0\x01\0\0\0B\0\0\0";
        assert_eq!(block, expected);
    }

    #[test]
    fn lays_out_a_start_block_as_documented() {
        let argv = ["node".to_owned()];
        let env = [("A".to_owned(), "é".to_owned())];
        let exec_argv = ["-r".to_owned()];
        let start = Start { pid: 7, ppid: 1, cwd: "/w", url: "u", source: "", argv: &argv, env: &env, exec_argv: &exec_argv };
        let block = start.encode();
        let expected: &[u8] = b"\x07\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\
            \x02\0\0\0/w\0\0\x01\0\0\0u\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0node\0\0\0\0\x04\0\0\0A=\xc3\xa9\0\0\0\0\
            \x02\0\0\0-r\0\0";
        assert_eq!(block, expected);
    }

    #[test]
    fn pads_events_to_eight_bytes() {
        let mut out = Vec::new();
        Event::Eval { id: 3, source: "1+1" }.encode(&mut out);
        Event::Timer.encode(&mut out);
        assert_eq!(out.len(), 16 + 8 + 16);
        assert_eq!(&out[..4], &4_u32.to_le_bytes());
        assert_eq!(&out[16..24], b"1+1\0\0\0\0\0");
        assert_eq!(&out[24..28], &2_u32.to_le_bytes());
    }
}
