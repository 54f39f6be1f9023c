//! Searches for the calls that do the most work.
//!
//! The search makes random trees, paths, watches and rules, makes every call on them, and varies
//! the world with the longest call. Two measures drive the search: the steps of a call, and in the
//! ignored test also the processor time, which finds work without steps: `cargo test --release -p
//! coldframe-kernel --lib -- --ignored longest --nocapture`. `LONGEST_SECONDS` sets the duration.

use super::{Arg, Guest};
use crate::limits::Limits;
use crate::permissions::policy::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
use crate::steps::{self, STEPS_PER_CALL};
use coldframe_abi::system_calls::{FileCall, ProcessCall};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const OPEN_DIRECTORY: i64 = 0o200_000;
const CREATE_AND_WRITE: i64 = 0o102;

/// The numbers that shape a world. Each gene has a maximum.
#[derive(Debug, Clone, Copy)]
struct World {
    depth: usize,
    name_len: usize,
    wide: usize,
    links: usize,
    repeats: usize,
    chunks: usize,
    chunk_gap: usize,
    watches: usize,
    rules: usize,
    folders: usize,
    texts: usize,
}

const MOST: World = World {
    depth: 8_000,
    name_len: 250,
    wide: 14_000,
    links: 39,
    repeats: 1_300,
    chunks: 20_000,
    chunk_gap: 3,
    watches: 1_000,
    rules: 500,
    folders: 100_000,
    texts: 90_000,
};

/// A linear congruential generator (Knuth's MMIX constants), so that a seed repeats a search.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % (most + 1)
    }

    /// Returns a number up to `most`: often small, sometimes the maximum.
    fn gene(&mut self, most: usize) -> usize {
        match self.below(5) {
            0 => most,
            1 => self.below(most.min(3)),
            2 => self.below(most.min(50)),
            _ => self.below(most),
        }
    }
}

impl World {
    fn random(random: &mut Random) -> Self {
        Self {
            depth: random.gene(MOST.depth),
            name_len: 1 + random.gene(MOST.name_len),
            wide: random.gene(MOST.wide),
            links: random.gene(MOST.links),
            repeats: random.gene(MOST.repeats),
            chunks: random.gene(MOST.chunks),
            chunk_gap: 1 + random.gene(MOST.chunk_gap),
            watches: random.gene(MOST.watches),
            rules: random.gene(MOST.rules),
            folders: random.gene(MOST.folders),
            texts: random.gene(MOST.texts),
        }
    }

    /// Changes one gene.
    fn varied(mut self, random: &mut Random) -> Self {
        let other = Self::random(random);
        match random.below(10) {
            0 => self.depth = other.depth,
            1 => self.name_len = other.name_len,
            2 => self.wide = other.wide,
            3 => self.links = other.links,
            4 => self.repeats = other.repeats,
            5 => (self.chunks, self.chunk_gap) = (other.chunks, other.chunk_gap),
            6 => self.watches = other.watches,
            7 => self.rules = other.rules,
            8 => self.folders = other.folders,
            9 => self.texts = other.texts,
            _ => return other,
        }
        self
    }
}

/// The longest call of each kind.
#[derive(Default)]
struct Longest(BTreeMap<&'static str, (usize, Duration)>);

impl Longest {
    /// Makes a call and records its steps and its time.
    fn call(&mut self, guest: &mut Guest, name: &'static str, number: impl Into<u32>, arguments: &[Arg<'_>]) -> i64 {
        let result = guest.plain(number, arguments);
        let held = self.0.entry(name).or_default();
        *held = (held.0.max(steps::taken()), held.1.max(guest.last));
        result
    }
}

/// Makes a world and makes every call in the world.
fn run(world: World) -> Longest {
    let mut longest = Longest::default();
    let mut guest = Guest::new(Limits::default());
    let name = |n: usize| format!("{}{n}", "n".repeat(world.name_len.saturating_sub(6)));
    // A long chain of directories. The working directory is the deepest directory.
    for _ in 0..world.depth.min(200_000 / world.name_len.max(25)) {
        let own = name(0);
        guest.plain(FileCall::Mkdir, &[own.as_str().into(), 0o755.into()]);
        longest.call(&mut guest, "chdir", FileCall::Chdir, &[own.as_str().into()]);
    }
    for n in 0..world.wide {
        guest.plain(FileCall::Mkdir, &[format!("/tmp/{}", name(n)).as_str().into(), 0o755.into()]);
    }
    guest.plain(FileCall::Mkdir, &["d".into(), 0o755.into()]);
    for n in 0..=world.links {
        let widest = format!("/tmp/{}", name(world.wide / 2));
        let part = if world.wide > 0 && n % 3 == 2 { format!("{widest}/../") } else { "d/../".to_owned() };
        let most = (4_000 / part.len()).min(world.repeats);
        let target = format!("{}l{}", part.repeat(most), n + 1);
        guest.plain(FileCall::Symlink, &[target.as_str().into(), format!("l{n}").as_str().into()]);
    }
    for _ in 0..world.watches {
        longest.call(&mut guest, "watch", FileCall::Watch, &["/".into(), 1.into()]);
    }
    if world.rules > 0 {
        let patterns = (0..world.rules).map(|n| format!("/**/{}*{n}/**", "n".repeat(world.name_len.min(60)))).collect();
        let rules = vec![PermissionRule { verdict: Verdict::Deny, operations: None, patterns: Some(patterns) }];
        let fs = Some(ScopePolicy { default: Verdict::Allow, rules });
        let policy = PermissionPolicy { fs, ..PermissionPolicy::default() };
        guest.program.process().kernel.permissions.set(&policy).expect("a good policy");
    }
    let link = "l0";
    let long = format!("{}d", "d/../".repeat(world.repeats.min(800)));
    for path in [link, &long] {
        longest.call(&mut guest, "stat", FileCall::Stat, &[path.into(), Arg::Room(144), 1.into()]);
        longest.call(&mut guest, "realpath", FileCall::Realpath, &[path.into(), Arg::Room(8_192)]);
        longest.call(&mut guest, "access", FileCall::Access, &[path.into(), 4.into()]);
        longest.call(&mut guest, "open", FileCall::Open, &[path.into(), 0.into(), 0.into()]);
        longest.call(&mut guest, "rename", FileCall::Rename, &[path.into(), "d/to".into()]);
        longest.call(&mut guest, "link", FileCall::Link, &[path.into(), "d/other".into()]);
        longest.call(&mut guest, "chmod", FileCall::Chmod, &[path.into(), 0o755.into(), 1.into()]);
        longest.call(&mut guest, "utimes", FileCall::Utimes, &[path.into(), 0.into(), 0.into(), 1.into()]);
        longest.call(&mut guest, "copy_file", FileCall::CopyFile, &[path.into(), "d/copy".into(), 0.into(), 0.into()]);
    }
    longest.call(&mut guest, "getcwd", FileCall::Getcwd, &[Arg::Room(1 << 20)]);
    let listed = guest.plain(FileCall::Open, &["/tmp".into(), OPEN_DIRECTORY.into(), 0.into()]);
    longest.call(&mut guest, "readdir", FileCall::Readdir, &[listed.into(), Arg::Room(8 << 20)]);
    longest.call(&mut guest, "mkdir", FileCall::Mkdir, &["d/e".into(), 0o755.into()]);
    longest.call(&mut guest, "rename a directory", FileCall::Rename, &["d".into(), "e".into()]);
    longest.call(&mut guest, "rmdir", FileCall::Rmdir, &["e/e".into()]);
    // A file of many small pieces, and a file of many bytes.
    let file = guest.plain(FileCall::Open, &["/tmp/file".into(), CREATE_AND_WRITE.into(), 0o644.into()]);
    for n in 0..world.chunks {
        let at = ((n * world.chunk_gap) as i64) << 16;
        longest.call(&mut guest, "write a byte", FileCall::Write, &[file.into(), "x".into(), at.into()]);
    }
    let bytes = vec![7; 8 << 20];
    longest.call(&mut guest, "write", FileCall::Write, &[file.into(), Arg::Bytes(&bytes), 1.into()]);
    longest.call(&mut guest, "read", FileCall::Read, &[file.into(), Arg::Room(bytes.len()), 0.into()]);
    longest.call(&mut guest, "read_file", FileCall::ReadFile, &["/tmp/file".into(), Arg::Room(bytes.len())]);
    let middle = ((world.chunks * world.chunk_gap / 2) as i64) << 16;
    longest.call(&mut guest, "ftruncate", FileCall::Ftruncate, &[file.into(), middle.into()]);
    guest.plain(FileCall::Close, &[file.into()]);
    longest.call(&mut guest, "unlink", FileCall::Unlink, &["/tmp/file".into()]);
    spawn(world, &mut guest, &mut longest);
    longest.call(&mut guest, "kill", ProcessCall::Kill, &[(-1).into(), 0.into()]);
    longest
}

/// Starts commands with long lists. The kernel of the tests starts no child, so the call ends after
/// the search for the command.
fn spawn(world: World, guest: &mut Guest, longest: &mut Longest) {
    let mut spawn = |name, argv: &[String], env: &[String]| {
        let words: Vec<u8> =
            [0, argv.len() as u32, env.len() as u32, 0].iter().flat_map(|number: &u32| number.to_le_bytes()).collect();
        let texts: Vec<&str> = [&*argv[0], ""].into_iter().chain(argv.iter().chain(env).map(String::as_str)).collect();
        let texts: Vec<u8> = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"].concat()).collect();
        longest.call(guest, name, ProcessCall::Spawn, &[Arg::Bytes(&words), Arg::Bytes(&texts)])
    };
    let path = |folder: &str| format!("PATH={}", format!("{folder}:").repeat(world.folders.min(1_000_000 / (folder.len() + 1))));
    spawn("search through links", &["nope".to_owned()], &[path("l0")]);
    spawn("search", &["nope".to_owned()], &[path("x")]);
    let texts: Vec<String> = (0..world.texts).map(|n| format!("A{n}=")).collect();
    let (argv, env) = ([&["env".to_owned()], &texts[..]].concat(), texts);
    spawn("env", &argv, &[]);
    spawn("a large environment", &["nope".to_owned()], &env);
}

#[test]
fn no_call_exceeds_its_steps_and_the_search_finds_long_calls() {
    let mut random = Random(14);
    let mut best = (0, World::random(&mut random));
    for _ in 0..30 {
        let world = best.1.varied(&mut random);
        let (wide, chunks, depth) = (world.wide.min(500), world.chunks.min(100), world.depth.min(500));
        let (watches, rules, texts) = (world.watches.min(20), world.rules.min(20), world.texts.min(10_000));
        let small = World { wide, chunks, depth, watches, rules, texts, ..world };
        let most = run(small).0.values().map(|(steps, _)| *steps).max().unwrap_or(0);
        assert!(most <= STEPS_PER_CALL, "{most} steps in {small:?}");
        best = if most >= best.0 { (most, world) } else { best };
    }
    assert_eq!(best.0, STEPS_PER_CALL, "the search finds a call that the bound ends");
}

#[test]
#[ignore = "searches for seconds and prints the longest calls"]
fn longest() {
    let seconds = std::env::var("LONGEST_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let seed = std::env::var("LONGEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (began, mut random) = (Instant::now(), Random(seed));
    let mut all: BTreeMap<&'static str, (Duration, usize, World)> = BTreeMap::new();
    let mut runs = 0;
    while began.elapsed() < Duration::from_secs(seconds) {
        let parents: Vec<World> = all.values().map(|(.., world)| *world).collect();
        let world = match parents.get(random.below(parents.len() + 1)) {
            Some(parent) => parent.varied(&mut random),
            None => World::random(&mut random),
        };
        runs += 1;
        for (name, (steps, time)) in run(world).0 {
            let held = all.entry(name).or_insert((time, steps, world));
            if time > held.0 {
                *held = (time, steps, world);
            }
        }
    }
    let mut rows: Vec<_> = all.into_iter().collect();
    rows.sort_by_key(|(_, (time, ..))| std::cmp::Reverse(*time));
    println!("{runs} worlds");
    for (name, (time, steps, world)) in rows {
        println!("{:>9.3} ms {steps:>6} steps  {name}  {world:?}", time.as_secs_f64() * 1e3);
    }
}
