//! Measures the time of calls, from the kernel's entry point: `cargo test --release -p
//! coldframe-kernel --lib -- --ignored cost --nocapture`.

use super::super::super::{Arguments, call};
use super::{Arg, Guest};
use crate::limits::Limits;
use coldframe_abi::system_calls::FileCall;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: u32 = 200_000;

#[test]
#[ignore = "prints figures for profiling"]
fn cost() {
    let mut guest = Guest::new(Limits::default());
    for n in 0..1_000 {
        guest.write_file(&format!("/tmp/file{n}"), &[7; 4_096]);
    }
    let fd = guest.plain(FileCall::Open, &["/tmp/file500".into(), 2.into(), 0.into()]);
    let mut memory = vec![0_u8; 16_384];
    let mut path_at = |at: usize, path: &str| {
        memory[at..at + path.len()].copy_from_slice(path.as_bytes());
        (at as i64, path.len() as i64)
    };
    let (path, len) = path_at(0, "/tmp/file500");
    let (missing, missing_len) = path_at(64, "/workspace/node_modules/none/package.json");
    let mut measure = |name: &str, measured: FileCall, integers: [i64; 8]| {
        let began = Instant::now();
        for _ in 0..ROUNDS {
            let _ = std::hint::black_box(call(&guest.program, measured.number(), &mut Arguments::new(integers, &mut memory)));
        }
        println!("{name}: {:.0} ns", began.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
    };
    measure("stat", FileCall::Stat, [path, len, 1_024, 144, 1, 0, 0, 0]);
    measure("stat of nothing", FileCall::Stat, [missing, missing_len, 1_024, 144, 1, 0, 0, 0]);
    measure("fstat", FileCall::Fstat, [fd, 1_024, 144, 0, 0, 0, 0, 0]);
    measure("read of 4 KiB", FileCall::Read, [fd, 4_096, 4_096, 0, 0, 0, 0, 0]);
    measure("write of 4 KiB", FileCall::Write, [fd, 4_096, 4_096, 0, 0, 0, 0, 0]);
    measure("open of nothing", FileCall::Open, [missing, missing_len, 0, 0, 0, 0, 0, 0]);
    measure("read_file of 4 KiB", FileCall::ReadFile, [path, len, 4_096, 4_096, 0, 0, 0, 0]);
    let scope = |default, rules| crate::permissions::policy::PermissionPolicy {
        fs: Some(crate::permissions::policy::ScopePolicy { default, rules }),
        ..crate::permissions::policy::PermissionPolicy::default()
    };
    let rule = |verdict, path: &str| crate::permissions::policy::PermissionRule {
        verdict,
        operations: None,
        patterns: Some(vec![path.to_owned()]),
    };
    use crate::permissions::policy::Verdict::{Allow, Deny};
    let rules =
        vec![rule(Allow, "/tmp"), rule(Allow, "/workspace"), rule(Deny, "**/.env"), rule(Deny, "/workspace/secret/*.key")];
    guest.program.process().kernel.permissions.set(&scope(Deny, rules)).expect("a good policy");
    measure("stat, with rules", FileCall::Stat, [path, len, 1_024, 144, 1, 0, 0, 0]);
    measure("stat of nothing, with rules", FileCall::Stat, [missing, missing_len, 1_024, 144, 1, 0, 0, 0]);
    measure("read_file of 4 KiB, with rules", FileCall::ReadFile, [path, len, 4_096, 4_096, 0, 0, 0, 0]);
    let began = Instant::now();
    for _ in 0..ROUNDS {
        let processes = Arc::new(crate::processes::Processes::new(Arc::default()));
        std::hint::black_box(super::super::base(
            super::super::Space { bytes: 1, inodes: 1 },
            processes,
            Arc::default(),
            crate::Library::missing(),
        ));
    }
    println!("a filesystem: {:.0} ns", began.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
    assert!(guest.sys(FileCall::Fstat, &[fd.into(), Arg::Room(144)]).0 == 0);
}
