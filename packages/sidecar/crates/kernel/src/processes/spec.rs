//! Decodes the request of a `spawn` call (`docs/internals/guest-abi.md`). Every length is checked.
//! Next: `resolve.rs`.

use super::table::Placement;
use crate::ids::Fd;
use crate::steps;
use crate::text::{Text, Variables};
use coldframe_error::Errno;
use coldframe_ids::Pid;

/// The bytes that a text counts besides its content: a word, as on Linux.
const WORD: usize = 8;

// The flags of a request.
const DETACHED: u32 = 1;
const GROUP: u32 = 2;
const FOREGROUND: u32 = 4;
const TERMINAL: u32 = 8;
const HAS_UID: u32 = 0x10;
const HAS_GID: u32 = 0x20;
const KNOWN: u32 = DETACHED | GROUP | FOREGROUND | TERMINAL | HAS_UID | HAS_GID;

/// The bounds that a request is checked against.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpecLimits {
    /// The maximum number of descriptors.
    pub(super) descriptors: usize,
    /// The maximum bytes of the arguments.
    pub(super) argv_bytes: u64,
    /// The maximum bytes of the environment.
    pub(super) env_bytes: u64,
}

/// The requested content of one descriptor of the child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stdio {
    /// `/dev/null` for descriptors 0 to 2. Any other descriptor stays closed.
    Ignore,
    /// The description of this descriptor of the parent.
    Inherit(Fd),
}

/// The decoded request of a `spawn` call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spec {
    pub(super) placement: Placement,
    /// The user and the group of the child. `None` means the caller's ids.
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    /// Whether the child's group becomes the foreground group of the caller's terminal.
    pub(super) is_foreground: bool,
    /// Whether descriptor 0 becomes the controlling terminal of the child's new session.
    pub(super) takes_terminal: bool,
    pub(super) file: Vec<u8>,
    pub(super) cwd: Vec<u8>,
    pub(super) argv: Vec<Text>,
    pub(super) env: Variables,
    pub(super) stdio: Vec<Stdio>,
    /// The bytes of the buffer that the arguments and the environment share.
    buffer: usize,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Result<u32, Errno> {
        let (bytes, rest) = self.0.split_first_chunk::<4>().ok_or(Errno::EINVAL)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*bytes))
    }
}

/// Divides bytes at the first NUL, which is in no part.
fn until_nul(bytes: &[u8]) -> Result<(&[u8], &[u8]), Errno> {
    let end = bytes.iter().position(|byte| *byte == 0).ok_or(Errno::EINVAL)?;
    Ok((&bytes[..end], &bytes[end + 1..]))
}

/// An iterator over texts that each end with NUL, in one shared buffer.
struct Texts {
    buffer: Text,
    at: usize,
}

impl Texts {
    /// Copies the texts. Invalid UTF-8 is replaced.
    fn of(bytes: &[u8]) -> Self {
        Self { buffer: Text::from(&*String::from_utf8_lossy(bytes)), at: 0 }
    }

    fn text(&mut self) -> Result<Text, Errno> {
        let (text, _) = until_nul(self.buffer.as_bytes().get(self.at..).unwrap_or_default())?;
        let range = self.at..self.at + text.len();
        self.at = range.end + 1;
        Ok(self.buffer.part(range))
    }

    /// Reads `count` texts of at most `most` bytes together. Fails with `E2BIG` for more bytes, and
    /// if the steps of the call do not suffice.
    fn texts<T>(&mut self, count: u32, most: u64, read: impl Fn(Text) -> Option<T>) -> Result<Vec<T>, Errno> {
        steps::take_texts(count as usize).map_err(|_| Errno::E2BIG)?;
        let (mut texts, mut bytes) = (Vec::new(), 0_usize);
        for _ in 0..count {
            let text = self.text()?;
            bytes = bytes.saturating_add(text.len() + 1 + WORD);
            if bytes as u64 > most {
                return Err(Errno::E2BIG);
            }
            texts.extend(read(text));
        }
        Ok(texts)
    }
}

impl Spec {
    pub(super) fn read(words: &[u8], texts: &[u8], most: SpecLimits) -> Result<Self, Errno> {
        let mut words = Reader(words);
        let (flags, argc, envc, stdio_count) = (words.number()?, words.number()?, words.number()?, words.number()?);
        let uid = if flags & HAS_UID != 0 { Some(words.number()?) } else { None };
        let gid = if flags & HAS_GID != 0 { Some(words.number()?) } else { None };
        if stdio_count as usize > most.descriptors {
            return Err(Errno::EMFILE);
        }
        let mut stdio = Vec::new();
        for _ in 0..stdio_count {
            let (kind, fd) = (words.number()?, words.number()?);
            stdio.push(match kind {
                0 => Stdio::Ignore,
                1 => Stdio::Inherit(Fd::new(fd)),
                _ => return Err(Errno::EINVAL),
            });
        }
        let group = if flags & GROUP != 0 { Some(words.number()?) } else { None };
        let placement = match (flags & DETACHED != 0, group) {
            (true, None) => Placement::NewSession,
            (true, Some(_)) => return Err(Errno::EINVAL),
            (false, None) => Placement::OfParent,
            (false, Some(0)) => Placement::NewGroup,
            (false, Some(group)) => Placement::Group(Pid::new(group)),
        };
        let (is_foreground, takes_terminal) = (flags & FOREGROUND != 0, flags & TERMINAL != 0);
        if (is_foreground && placement == Placement::NewSession) || (takes_terminal && placement != Placement::NewSession) {
            return Err(Errno::EINVAL);
        }
        let (file, rest) = until_nul(texts)?;
        let (cwd, rest) = until_nul(rest)?;
        let most_bytes = most.argv_bytes.saturating_add(most.env_bytes);
        if rest.len() as u64 > most_bytes {
            return Err(Errno::E2BIG);
        }
        let mut texts = Texts::of(rest);
        let argv = texts.texts(argc, most.argv_bytes, Some)?;
        let env = texts.texts(envc, most.env_bytes, |text| text.split_once('='))?;
        if !words.0.is_empty() || texts.at != texts.buffer.len() || flags & !KNOWN != 0 {
            return Err(Errno::EINVAL);
        }
        let buffer = texts.buffer.len();
        let (file, cwd) = (file.to_vec(), cwd.to_vec());
        Ok(Self { placement, uid, gid, is_foreground, takes_terminal, file, cwd, argv, env, stdio, buffer })
    }

    /// Returns the kernel memory of the texts in bytes. The kernel keeps the texts while the child
    /// is live, because `/proc` shows the texts.
    pub(super) fn cost(&self) -> u64 {
        /// The bytes of a text besides its content: the entries in the lists of the kernel and of
        /// the program's start.
        const TEXT: usize = 64;
        let texts = self.argv.len() + 2 * self.env.len();
        (self.buffer + texts * TEXT) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LONGEST: usize = 1_000;

    fn most(descriptors: usize) -> SpecLimits {
        SpecLimits { descriptors, argv_bytes: LONGEST as u64, env_bytes: LONGEST as u64 }
    }

    fn read(numbers: &[u32], texts: &[&str], stdio: &[(u32, u32)]) -> Result<Spec, Errno> {
        let stdio = stdio.iter().flat_map(|(kind, fd)| [*kind, *fd]);
        let words: Vec<u8> = numbers.iter().copied().chain(stdio).flat_map(u32::to_le_bytes).collect();
        let texts: Vec<u8> = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"].concat()).collect();
        Spec::read(&words, &texts, most(8))
    }

    #[test]
    fn reads_a_well_formed_request() {
        let texts = ["node", "", "node", "-v", "A=b=c", "nothing"];
        let spec = read(&[1, 2, 2, 2], &texts, &[(0, 0), (1, 7)]).expect("well formed");
        assert_eq!((spec.placement, &*spec.file, &*spec.cwd), (Placement::NewSession, &b"node"[..], &b""[..]));
        assert_eq!((spec.argv, spec.env), (["node", "-v"].map(Text::from).to_vec(), vec![("A".into(), "b=c".into())]));
        assert_eq!(spec.stdio, [Stdio::Ignore, Stdio::Inherit(Fd::new(7))]);
    }

    #[test]
    fn refuses_excess_and_malformed_requests() {
        let long = "x".repeat(LONGEST);
        assert_eq!(read(&[0, 1, 0, 0], &["f", "", &long], &[]), Err(Errno::E2BIG));
        assert_eq!(read(&[0, u32::MAX, 0, 0], &["f", ""], &[]), Err(Errno::EINVAL));
        assert_eq!(read(&[0, 0, 0, 9], &["f", ""], &[]), Err(Errno::EMFILE));
        assert_eq!(read(&[0, 0, 0, 1], &["f", ""], &[(2, 0)]), Err(Errno::EINVAL));
        assert_eq!(read(&[0, 0, 0, 0], &["f", "", "more"], &[]), Err(Errno::EINVAL));
        assert_eq!(Spec::read(&[0; 16], b"no end", most(8)), Err(Errno::EINVAL));
        for flags in [2, 3, 5, 8, 0x40, HAS_UID, HAS_GID, u32::MAX] {
            assert_eq!(read(&[flags, 0, 0, 0], &["f", ""], &[]), Err(Errno::EINVAL), "{flags}");
        }
    }

    #[test]
    fn reads_the_user_and_the_group_of_a_child() {
        let spec = read(&[HAS_UID | HAS_GID, 0, 0, 0, 5, 6], &["f", ""], &[]).expect("well formed");
        assert_eq!((spec.placement, spec.uid, spec.gid), (Placement::OfParent, Some(5), Some(6)));
        let spec = read(&[HAS_GID | DETACHED, 0, 0, 0, 6], &["f", ""], &[]).expect("well formed");
        assert_eq!((spec.placement, spec.uid, spec.gid), (Placement::NewSession, None, Some(6)));
    }

    proptest! {
        #[test]
        fn does_not_panic_on_arbitrary_requests(words in prop::collection::vec(0_u8..4, 0..64), texts in "[a-c=\0]{0,60}") {
            let _ = Spec::read(&words, texts.as_bytes(), most(256));
        }
    }
}
