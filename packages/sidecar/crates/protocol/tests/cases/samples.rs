//! The messages and the parts of messages that several cases have. Next: `mod.rs`.

use std::borrow::Cow;

use coldframe_ids::{Pid, RunnerId, RuntimeId};
use coldframe_protocol::messages::*;

pub(super) const TIMINGS: Timings =
    Timings { memory_map_ns: 4_200, instantiate_ns: 0, guest_start_ns: 65_536, guest_run_ns: 30_000_000_000 };
pub(super) const BYTES: &[u8] = &[0, 1, 127, 128, 254, 255, 0x93, 0xc0];

pub(super) fn failure(code: &'static str, message: &'static str, details: &[(&'static str, Fact)]) -> Failure<'static> {
    let details = details.iter().map(|(name, fact)| (Cow::Borrowed(*name), fact.clone())).collect();
    Failure { code: Cow::Borrowed(code), message: Cow::Borrowed(message), details: Details(details) }
}

pub(super) fn everything() -> ProcessStart<'static> {
    ProcessStart {
        runtime: runtime(7),
        mode: Mode::Run,
        code: "console.log('grüße, 世界 👋\\u0000')",
        language: Some(Language::Python),
        args: Some(vec!["--flag", "", "ünïcode"]),
        exec_argv: None,
        env: Some(Pairs(vec![("PATH", "/bin"), ("EMPTY", ""), ("KÜRZEL", "ß")])),
        cwd: Some("/workspace/ordner"),
        stdin: Some(BYTES),
        timeout_ms: Some(4_294_967_296),
        limits: Some(Numbers(vec![("memoryBytes", 33_554_432), ("cpuMs", 50)])),
        stream: Some(Stream { stdout: Some(true), stderr: Some(false) }),
        live: Some(true),
        user: Some(Owner { uid: 0, gid: 0 }),
        terminal: Some(TerminalSize { columns: 80, rows: 24 }),
        keep_orphans: Some(true),
    }
}

pub(super) fn least(code: &'static str) -> ProcessStart<'static> {
    let (args, exec_argv, env, cwd, stdin, timeout_ms, stream) = (None, None, None, None, None, None, None);
    ProcessStart {
        runtime: runtime(1),
        mode: Mode::Exec,
        code,
        language: None,
        args,
        exec_argv,
        env,
        cwd,
        stdin,
        timeout_ms,
        limits: None,
        stream,
        live: None,
        user: None,
        terminal: None,
        keep_orphans: None,
    }
}

pub(super) fn outcome<'a>(stdout: &'a [u8], failure: Option<Failure<'a>>) -> Outcome<'a> {
    let exit_code = if failure.is_some() { 137 } else { 0 };
    Outcome {
        exit_code,
        signal: None,
        stdout,
        stderr: b"",
        value: None,
        failure,
        stdout_truncated: false,
        stderr_truncated: false,
        timings: TIMINGS,
    }
}

pub(super) fn policy() -> Permissions<'static> {
    let rules = vec![
        PermissionRule {
            mode: PermissionMode::Deny,
            operations: Some(vec!["read", "write"]),
            patterns: Some(vec!["/größe", "**/.env"]),
        },
        PermissionRule { mode: PermissionMode::Allow, operations: None, patterns: None },
    ];
    let fs = Some(PermissionScope { default: PermissionMode::Allow, rules: Some(rules) });
    let network = Some(PermissionScope { default: PermissionMode::Deny, rules: None });
    Permissions { fs, network, ..Permissions::default() }
}

pub(super) fn decided(resource: &str, decision: PermissionMode, rule: Option<u32>) -> PermissionEvent<'_> {
    let pid = Some(Pid::new(2));
    PermissionEvent {
        scope: "fs",
        operation: "read",
        resource,
        decision,
        rule,
        pattern: rule.map(|_| "/workspace/**"),
        reason: (decision == PermissionMode::Deny).then_some("the permission fs.read is denied"),
        pid,
        time_us: 1_700_000_000_123_456,
    }
}

pub(super) fn runtime(number: u32) -> RuntimeId {
    RuntimeId::new(number).unwrap()
}

pub(super) fn runner(number: u32) -> RunnerId {
    RunnerId::new(number).unwrap()
}

pub(super) fn pids(numbers: [u32; 2]) -> Vec<Pid> {
    numbers.map(Pid::new).to_vec()
}

pub(super) fn warning(limit: &'static str, used: u64, max: u64, pid: Option<u32>) -> LimitWarning<'static> {
    LimitWarning { runtime: runtime(7), limit, used, max, pid: pid.map(Pid::new) }
}
