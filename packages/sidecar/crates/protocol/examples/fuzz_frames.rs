//! Fuzzes the frame decoder and the messages: `cargo run --release -p coldframe-protocol --example
//! fuzz_frames -- --seconds 600`.
//!
//! Inputs are noise and golden frames that are mutated, joined and cut at random places. `--seed N`
//! repeats a run. Stable Rust has no coverage feedback, so the fuzzer relies on quantity and good
//! seeds. A counting allocator checks that the received bytes bound the memory of the decoder and
//! of a message.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test program")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use coldframe_protocol::messages::{
    Failure, HostCall, HostCancel, LimitWarning, Listeners, Outcome, Output, PermissionsPending, PermissionsTaken,
    RestoredPrograms, RunnerCreated, RuntimeCopies, RuntimeCreated, RuntimeUsage, SidecarHello, SidecarResources,
    SnapshotEntries, StreamClosed, StreamData,
};
use coldframe_protocol::{Decoder, Frame, FrameError, Invalid, Kind, MAX_FRAME_BYTES, Request, encode, reader};

struct Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes unchanged to the system's allocator. The counters do not touch the
// memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(LIVE.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Runs `work`. Returns the result of `work`, and the peak of the memory that `work` allocated, in
/// bytes.
fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let value = work();
    (value, PEAK.load(Relaxed) - before)
}

/// xorshift64*: a small seeded generator that chooses mutations.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n.max(1)
    }
    fn byte(&mut self) -> u8 {
        // Markers of long lists, maps, strings and binary data, and the edges of integers. Random
        // bytes would contain these bytes too rarely.
        const LIKELY: &[u8] = &[
            0, 1, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc4, 0xc6, 0xc7, 0xcb, 0xcf, 0xd3, 0xd9, 0xdb, 0xdd,
            0xdf, 0xff,
        ];
        if self.below(2) == 0 { LIKELY[self.below(LIKELY.len())] } else { self.next() as u8 }
    }
}

fn golden() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/frames");
    let files = std::fs::read_dir(&folder).expect("the golden frames: UPDATE_FIXTURES=1 cargo test -p coldframe-protocol");
    let paths = files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "bin"));
    let frames: Vec<_> = paths.map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!frames.is_empty(), "no golden frames in {}", folder.display());
    frames
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = random.below(bytes.len() + 1);
    match random.below(8) {
        0 | 1 if at < bytes.len() => bytes[at] = random.byte(),
        2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        3 => bytes.insert(at, random.byte()),
        4 => bytes.truncate(at),
        5 => {
            let other = &seeds[random.below(seeds.len())];
            bytes.splice(at..at, other[random.below(other.len())..].iter().copied().take(300));
        }
        6 => (0..random.below(12)).for_each(|i| {
            if let Some(byte) = bytes.get_mut(at + i) {
                *byte = random.byte()
            }
        }),
        _ => {
            let end = (at + random.below(16)).min(bytes.len());
            bytes.drain(at..end);
        }
    }
}

/// Returns a stream of one to three mutated frames. Most frames get the right length, so that a
/// mutation reaches the messages. Some frames keep a mutated length.
fn input(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..=random.below(3) {
        let mut frame = match random.below(10) {
            0 => (0..random.below(200)).map(|_| random.byte()).collect(),
            _ => seeds[random.below(seeds.len())].clone(),
        };
        for _ in 0..random.below(6) {
            mutate(random, &mut frame, seeds);
        }
        if frame.len() >= 4 && random.below(8) != 0 {
            let length = (frame.len() - 4) as u32;
            frame[..4].copy_from_slice(&length.to_le_bytes());
        }
        input.extend(frame);
    }
    input
}

/// Decodes the body as each type of message. Returns whether any type accepted the body.
fn message(frame: &Frame<'_>) -> bool {
    fn taken<T>(result: Result<T, Invalid>) -> bool {
        black_box(result).is_ok()
    }
    let body = frame.body;
    taken(reader::read::<Outcome>(body))
        | taken(reader::read::<Failure>(body))
        | taken(reader::read::<Output>(body))
        | taken(reader::read::<SidecarHello>(body))
        | taken(reader::read::<RunnerCreated>(body))
        | taken(reader::read::<RuntimeCreated>(body))
        | taken(reader::read::<SidecarResources>(body))
        | taken(reader::read::<LimitWarning<'_>>(body))
        | taken(reader::read::<RuntimeUsage<'_>>(body))
        | taken(reader::read::<HostCall>(body))
        | taken(reader::read::<HostCancel>(body))
        | taken(reader::read::<PermissionsPending>(body))
        | taken(reader::read::<PermissionsTaken>(body))
        | taken(reader::read::<Listeners>(body))
        | taken(reader::read::<StreamClosed>(body))
        | taken(reader::read::<StreamData>(body))
        | taken(reader::read::<SnapshotEntries>(body))
        | taken(reader::read::<RuntimeCopies>(body))
        | taken(reader::read::<RestoredPrograms>(body))
        | taken(Request::decode(frame))
}

#[derive(Default)]
struct Counts {
    inputs: u64,
    bytes: u64,
    frames: u64,
    messages: u64,
    refused: u64,
    peak: usize,
}

/// Decodes one stream in pieces of random sizes. The decoder may allocate 64 KiB and, while its
/// buffer grows, three times the received bytes. A message may allocate 4 KiB, and 24 bytes for
/// each byte of its body. An empty argument is one byte long, and a borrowed string 16.
fn run(random: &mut Random, input: &[u8], counts: &mut Counts) -> Result<(), FrameError> {
    let mut decoder = Decoder::new();
    let mut rest = input;
    while !rest.is_empty() {
        let piece = &rest[..(1 + random.below(rest.len())).min(rest.len())];
        let (taken, peak) = peak_of(|| decoder.push(piece));
        let received = input.len() - rest.len() + taken;
        let held = decoder.capacity();
        counts.peak = counts.peak.max(peak).max(held);
        assert!(held <= (64 << 10) + 2 * received && held <= MAX_FRAME_BYTES + 4, "{held} bytes held after {received}");
        assert!(peak <= (64 << 10) + 3 * received, "{peak} bytes taken after {received}");
        rest = &rest[taken..];
        while let Some(frame) = decoder.next_frame()? {
            counts.frames += 1;
            let (good, peak) = peak_of(|| message(&frame));
            counts.peak = counts.peak.max(peak);
            counts.messages += u64::from(good);
            let limit = 4096 + 24 * frame.body.len();
            assert!(peak <= limit, "{peak} bytes for a body of {}, more than {limit}", frame.body.len());
        }
    }
    Ok(())
}

fn number(name: &str) -> Option<u64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}: expected a whole number, received {value}")))
}

fn main() {
    let seconds = number("--seconds").unwrap_or(5);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = number("--seed").unwrap_or(now) | 1;
    println!("fuzzing for {seconds} s with --seed {seed}");
    let seeds = golden();
    let mut random = Random(seed);
    let mut counts = Counts::default();
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let bytes = input(&mut random, &seeds);
        counts.inputs += 1;
        counts.bytes += bytes.len() as u64;
        counts.refused += u64::from(run(&mut random, &bytes, &mut counts).is_err());
    }
    // One large frame in each run checks that the decoder allocates announced bytes only as the
    // bytes arrive, also near the limit.
    let data = vec![7; MAX_FRAME_BYTES - 64];
    let large = encode(Kind::Output, 1, &Output { fd: 1, data: &data }, data.len()).unwrap();
    run(&mut random, &large, &mut counts).unwrap();
    let Counts { inputs, bytes, frames, messages, refused, peak } = counts;
    println!("{inputs} streams of {bytes} bytes: {frames} frames, {messages} whole messages, {refused} streams refused");
    println!("no panic; at most {peak} bytes live (the largest frame was {} bytes)", large.len());
}
