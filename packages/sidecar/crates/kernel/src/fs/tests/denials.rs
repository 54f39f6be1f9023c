//! Tests that a program reads the reason of its last denied call, for the calls of every family
//! that checks a permission.

use super::{Arg, Guest};
use crate::limits::Limits;
use crate::permissions::policy::{PermissionPolicy, PermissionRule, ScopePolicy, Verdict};
use coldframe_abi::system_calls::{BindingCall, FileCall, ProcessCall, SocketCall};

const EACCES: i64 = -13;
const ENOENT: i64 = -2;
const STREAM: (i64, i64) = (2, 1);
const DATAGRAM: (i64, i64) = (2, 2);

/// Returns a policy that denies everything except files.
fn closed() -> PermissionPolicy {
    let deny = || Some(ScopePolicy::always(Verdict::Deny));
    PermissionPolicy { network: deny(), process: deny(), binding: deny(), ..PermissionPolicy::default() }
}

fn guest(policy: &PermissionPolicy) -> Guest {
    let guest = Guest::new(Limits::default());
    guest.program.process().kernel.permissions.set(policy).expect("a good policy");
    guest
}

impl Guest {
    fn reason(&mut self) -> String {
        let (len, text) = self.sys(FileCall::Reason, &[Arg::Room(300)]);
        String::from_utf8_lossy(&text[..usize::try_from(len).expect("a length")]).into_owned()
    }

    fn socket(&mut self, (domain, kind): (i64, i64)) -> Arg<'static> {
        let fd = self.plain(SocketCall::Socket, &[domain.into(), kind.into()]);
        assert!(fd >= 0, "{fd}");
        fd.into()
    }
}

#[test]
fn a_denied_call_of_each_family_has_a_reason() {
    let mut guest = guest(&closed());
    let (stream, datagram) = (guest.socket(STREAM), guest.socket(DATAGRAM));
    let other = crate::testing::FakeCaller::root(&guest.program.process().kernel, "/");
    let (local, outside): (Arg<'_>, Arg<'_>) = ("127.0.0.1".into(), "93.184.216.34".into());
    let cases: Vec<(&str, u32, Vec<Arg<'_>>)> = vec![
        ("network.connect", SocketCall::Connect.into(), vec![stream, local, 80.into()]),
        ("network.connect", SocketCall::Connect.into(), vec![stream, outside, 80.into()]),
        ("network.listen", SocketCall::Listen.into(), vec![stream, 8.into()]),
        ("network.udp", SocketCall::Bind.into(), vec![datagram, local, 9_000.into()]),
        ("network.udp", SocketCall::Connect.into(), vec![datagram, outside, 53.into()]),
        ("network.udp", SocketCall::Send.into(), vec![datagram, "x".into(), outside, 53.into()]),
        ("network.dns", SocketCall::LookUp.into(), vec!["localhost".into()]),
        ("network.dns", SocketCall::LookUp.into(), vec!["example.com".into()]),
        ("process.signal", ProcessCall::Kill.into(), vec![i64::from(other.pid().get()).into(), 0.into()]),
        ("process.setpgid", ProcessCall::Setpgid.into(), vec![0.into(), 0.into()]),
        ("binding.call", BindingCall::Call.into(), vec!["price".into(), "{}".into()]),
    ];
    for (permission, number, arguments) in cases {
        assert_eq!(guest.plain(number, &arguments), EACCES, "{permission}");
        let reason = guest.reason();
        let scope = permission.split('.').next().expect("a scope");
        let start = format!("the permission {permission} is denied by the default of permissions.{scope}; ");
        assert!(reason.starts_with(&start), "{reason}");
        assert_eq!(guest.reason(), "", "the reason is returned once");
    }
}

#[test]
fn the_default_policy_denies_names_and_addresses_outside_the_runtime() {
    let mut guest = guest(&PermissionPolicy::default());
    let (stream, datagram) = (guest.socket(STREAM), guest.socket(DATAGRAM));
    let remedy = "the app can open hosts outside the runtime with the option network";
    let reason = |permission: &str| format!("the permission {permission} is denied by the default policy; {remedy}");
    assert_eq!(guest.plain(SocketCall::LookUp, &["example.com".into()]), EACCES);
    assert_eq!(guest.reason(), reason("network.dns"));
    assert_eq!(guest.plain(SocketCall::Connect, &[stream, "::ffff:10.0.0.1".into(), 80.into()]), -22, "no IPv4 address");
    assert_eq!(guest.plain(SocketCall::Connect, &[stream, "169.254.169.254".into(), 80.into()]), EACCES);
    assert_eq!(guest.reason(), reason("network.connect"));
    assert_eq!(guest.plain(SocketCall::Send, &[datagram, "x".into(), "8.8.8.8".into(), 53.into()]), EACCES);
    assert_eq!(guest.reason(), reason("network.udp"));
    for name in ["localhost", "a.localhost", "LOCALHOST."] {
        assert_eq!(guest.plain(SocketCall::LookUp, &[name.into()]), 0, "{name}");
    }
    let (long_label, long_name) = ("a".repeat(64), "a.".repeat(127));
    for name in ["", ".", "a..b", "host.invalid", "INVALID.", &long_label, &format!("{long_name}ab")] {
        assert_eq!(guest.plain(SocketCall::LookUp, &[name.into()]), ENOENT, "{name}");
    }
    for name in ["a", "invalid.test", &long_label[1..], &long_name] {
        assert_eq!(guest.plain(SocketCall::LookUp, &[name.into()]), EACCES, "{name}");
    }
}

#[test]
fn a_process_reads_only_its_own_reason() {
    let mut first = guest(&closed());
    let mut second = Guest::of(&first.program.process().kernel, "/");
    assert_eq!(first.plain(SocketCall::LookUp, &["localhost".into()]), EACCES);
    assert_eq!(second.reason(), "");
    assert_ne!(first.reason(), "");
}

#[test]
fn a_partly_denied_signal_has_no_reason() {
    let first = guest(&PermissionPolicy::default());
    let kernel = first.program.process().kernel.clone();
    let others = [(); 2].map(|()| crate::testing::FakeCaller::root(&kernel, "/"));
    let patterns = Some(vec![format!("0:{}", others[0].pid())]);
    let rule = PermissionRule { verdict: Verdict::Deny, operations: None, patterns };
    let process = Some(ScopePolicy { default: Verdict::Allow, rules: vec![rule] });
    kernel.permissions.set(&PermissionPolicy { process, ..PermissionPolicy::default() }).expect("a good policy");
    let mut first = first;
    assert_eq!(first.plain(ProcessCall::Kill, &[(-1).into(), 0.into()]), 0);
    assert_eq!(first.reason(), "");
    assert_eq!(first.plain(ProcessCall::Kill, &[i64::from(others[0].pid().get()).into(), 0.into()]), EACCES);
    assert!(first.reason().starts_with("the permission process.signal is denied by the rule permissions.process.rules[0]; "));
}
