//! The guest ABI in Rust: `docs/internals/guest-abi.md` says what each number means.

/// Linux error numbers that imports answer with.
pub(crate) mod errno {
    pub(crate) const EFAULT: i32 = -14;
    pub(crate) const ENOSYS: i32 = -38;
    /// The same in WASI's numbering.
    pub(crate) const WASI_ENOSYS: i32 = 52;
}

/// Bytes of the state block.
pub(crate) const STATE_LEN: usize = 48;

/// The guest's state after a turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct State {
    pub(crate) exited: bool,
    pub(crate) exit_code: i32,
    /// Milliseconds of the monotonic clock, or negative.
    pub(crate) timer_at: f64,
    pub(crate) exit_reason: u32,
    pub(crate) value_ptr: u32,
    pub(crate) value_len: u32,
    pub(crate) eval_done: u32,
    pub(crate) eval_exit_code: i32,
    pub(crate) eval_reason: u32,
}

/// `exit_reason` and `eval_reason`.
pub(crate) const REASON_MEMORY: u32 = 2;

impl State {
    pub(crate) fn decode(block: &[u8; STATE_LEN]) -> Self {
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

/// What the program is for: the id of the START event.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event<'a> {
    Start {
        mode: u32,
        block: &'a [u8],
    },
    Timer,
    Complete {
        operation: u32,
        result: i32,
        bytes: &'a [u8],
    },
    Eval {
        id: u32,
        source: &'a str,
    },
    /// The memory was saved and lives again: see [`Restore`].
    Restore {
        block: &'a [u8],
    },
}

impl Event<'_> {
    /// Appends the event as it lies in the inbox.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
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

/// The start block: what a program begins with.
pub(crate) struct Start<'a> {
    pub(crate) pid: u32,
    pub(crate) ppid: u32,
    pub(crate) cwd: &'a str,
    pub(crate) url: &'a str,
    pub(crate) source: &'a str,
    pub(crate) argv: &'a [String],
    pub(crate) env: &'a [(String, String)],
    pub(crate) exec_argv: &'a [String],
}

impl Start<'_> {
    pub(crate) fn encode(&self) -> Vec<u8> {
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

/// The payload of a RESTORE event: what differs for a memory that lives again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Restore {
    pub(crate) pid: u32,
    pub(crate) ppid: u32,
    /// By the wall clock, in milliseconds.
    pub(crate) asleep_ms: f64,
    /// Variables of the environment: set, or removed.
    pub(crate) env: Vec<(String, Option<String>)>,
}

impl Restore {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        for number in [self.pid, self.ppid, self.env.len() as u32, 0] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.asleep_ms.to_le_bytes());
        for (key, value) in &self.env {
            match value {
                Some(value) => push_string(&mut out, &[key, "=", value]),
                None => push_string(&mut out, &[key]),
            }
        }
        out
    }
}

/// Length, bytes, a NUL, padding to 4.
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
    fn a_restore_block_is_laid_out_as_the_contract_says() {
        let env = vec![("A".to_owned(), Some("1".to_owned())), ("B".to_owned(), None)];
        let block = Restore { pid: 7, ppid: 1, asleep_ms: 0.5, env }.encode();
        let expected: &[u8] = b"\x07\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\xe0\x3f\x03\0\0\0A=1\0\x01\0\0\0B\0\0\0";
        assert_eq!(block, expected);
    }

    #[test]
    fn a_start_block_is_laid_out_as_the_contract_says() {
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
    fn events_are_padded_to_eight_bytes() {
        let mut out = Vec::new();
        Event::Eval { id: 3, source: "1+1" }.encode(&mut out);
        Event::Timer.encode(&mut out);
        assert_eq!(out.len(), 16 + 8 + 16);
        assert_eq!(&out[..4], &4_u32.to_le_bytes());
        assert_eq!(&out[16..24], b"1+1\0\0\0\0\0");
        assert_eq!(&out[24..28], &2_u32.to_le_bytes());
    }
}
