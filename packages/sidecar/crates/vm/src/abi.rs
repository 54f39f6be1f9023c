//! Encodes the events, the start block and the restore block that a guest receives.
//! `docs/internals/guest-abi.md` describes the layouts, and `coldframe-abi` has the numbers. Next:
//! `lib.rs`.

use coldframe_abi::{EventHeader, EventKind, ProgramMode};

/// The results of failed imports.
pub mod errno {
    /// A bad address.
    pub const EFAULT: i32 = -14;
    /// An unknown function.
    pub const ENOSYS: i32 = -38;
}

/// An event for the guest.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The start of a program.
    Start {
        /// The mode of the program.
        mode: ProgramMode,
        /// The encoded [`Start`].
        block: &'a [u8],
    },
    /// The time of `timer_at` has passed.
    Timer,
    /// The completion of an operation.
    Complete {
        /// The number of the operation.
        operation: u32,
        /// The result of the operation, or a negative error number.
        result: i32,
        /// The bytes of the result.
        bytes: &'a [u8],
    },
    /// The start of an evaluation.
    Eval {
        /// The number of the evaluation.
        id: u32,
        /// The code of the snippet.
        source: &'a str,
        /// The flags of the evaluation, of [`coldframe_abi::EvalFlag`].
        flags: u32,
        /// The environment and the working directory of this evaluation: an encoded [`Place`].
        /// Empty if the evaluation has the program's.
        place: &'a [u8],
    },
    /// The end of an evaluation that the sidecar has ended.
    Abandon {
        /// The number of the evaluation.
        id: u32,
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
        let (kind, id, result, payload): (EventKind, u32, i32, [&[u8]; 3]) = match self {
            Self::Start { mode, block } => (EventKind::Start, mode.number(), 0, [block, &[], &[]]),
            Self::Timer => (EventKind::Timer, 0, 0, [&[]; 3]),
            Self::Complete { operation, result, bytes } => (EventKind::Complete, *operation, *result, [bytes, &[], &[]]),
            Self::Eval { id, source, flags, place } => {
                let place = if place.is_empty() { &[0; 4] } else { *place };
                (EventKind::Eval, *id, *flags as i32, [place, source.as_bytes(), &[]])
            }
            Self::Abandon { id } => (EventKind::Abandon, *id, 0, [&[]; 3]),
            Self::Restore { block } => (EventKind::Restore, 0, 0, [block, &[], &[]]),
        };
        let len = payload.iter().map(|part| part.len() as u32).sum();
        let header = EventHeader { kind: kind.number(), id, result, len };
        out.extend_from_slice(&header.encode());
        payload.iter().for_each(|part| out.extend_from_slice(part));
        out.resize(out.len().next_multiple_of(8), 0);
    }
}

/// The environment and the working directory of one evaluation.
pub struct Place<'a> {
    /// The working directory. `None` means the program's.
    pub cwd: Option<&'a str>,
    /// Variables that extend or replace the program's environment.
    pub env: &'a [(String, String)],
}

impl Place<'_> {
    /// Encodes the place: the number of texts, the working directory or an empty text, and a text
    /// for each variable.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = (1 + self.env.len() as u32).to_le_bytes().to_vec();
        push_string(&mut out, &[self.cwd.unwrap_or_default()]);
        for (key, value) in self.env {
            push_string(&mut out, &[key, "=", value]);
        }
        out
    }
}

/// The start block: the parameters of a program.
pub struct Start<'a, T> {
    /// The pid of the process.
    pub pid: u32,
    /// The pid of the parent process.
    pub ppid: u32,
    /// The working directory.
    pub cwd: &'a str,
    /// The URL of the entry module.
    pub url: &'a str,
    /// The code of the entry module.
    pub source: &'a str,
    /// The arguments of the program.
    pub argv: &'a [T],
    /// The environment variables.
    pub env: &'a [(T, T)],
    /// Options of Node itself, `process.execArgv`.
    pub exec_argv: &'a [String],
}

impl<T: AsRef<str>> Start<'_, T> {
    /// Encodes the start block.
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
            string(&[argument.as_ref()]);
        }
        for (key, value) in self.env {
            string(&[key.as_ref(), "=", value.as_ref()]);
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
    /// The pid of the process.
    pub pid: u32,
    /// The pid of the parent process.
    pub ppid: u32,
    /// The time since the snapshot by the wall clock, in milliseconds.
    pub elapsed_ms: f64,
    /// Environment variables to set or to remove.
    pub env: Vec<(String, Option<String>)>,
}

impl Restore {
    /// Encodes the restore block.
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
        Event::Eval { id: 3, source: "1+1", flags: 1, place: &[] }.encode(&mut out);
        Event::Timer.encode(&mut out);
        assert_eq!(out.len(), 16 + 8 + 16);
        assert_eq!(&out[..16], b"\x04\0\0\0\x03\0\0\0\x01\0\0\0\x07\0\0\0");
        assert_eq!(&out[16..24], b"\0\0\0\x001+1\0");
        assert_eq!(&out[24..28], &2_u32.to_le_bytes());
    }

    #[test]
    fn lays_out_the_place_of_an_evaluation_as_documented() {
        let env = [("A".to_owned(), "é".to_owned())];
        let place = Place { cwd: None, env: &env }.encode();
        let mut out = Vec::new();
        Event::Eval { id: 3, source: "1", flags: 0, place: &place }.encode(&mut out);
        let expected: &[u8] = b"\x02\0\0\0\0\0\0\0\0\0\0\0\x04\0\0\0A=\xc3\xa9\0\0\0\x001\0\0\0\0\0\0\0";
        assert_eq!(&out[8..16], b"\0\0\0\0\x19\0\0\0");
        assert_eq!(&out[16..], expected);
    }
}
