//! The entries of policies, and the depth of rules.

use super::{name, options, texts};
use crate::{Change, Decision, EgressOptions, Fault, List, MAX_ENTRIES, Outside, Policy, PolicyChange, RuleId};

fn fault(list: List, entry: &str) -> Option<Fault> {
    let mut made = EgressOptions::default();
    match list {
        List::Allow => made.allow.push(entry.to_owned()),
        List::Deny => made.deny.push(entry.to_owned()),
        List::Private => made.private.push(entry.to_owned()),
        List::Http => made.http.push(crate::HttpRule { host: entry.to_owned(), ..crate::HttpRule::default() }),
    }
    Policy::compile(made).err().map(|invalid| {
        assert_eq!((invalid.list, invalid.index), (list, 0));
        invalid.fault
    })
}

#[test]
fn valid_entries_are_accepted() {
    let allowed = [
        "packages.example.org",
        "packages.example.org:443",
        "*.example.com:443",
        "tcp://db.example.net:5432",
        "8.8.8.8",
        "8.8.8.0/24:1-9",
        "2606:4700::1",
        "2606:4700::/32",
        "[2606:4700::1]:443",
        "[2606:4700::/32]:*",
        "bücher.example:80",
        "EXAMPLE.com.",
        "mail.example.com:25",
        "8.8.8.8:53",
        "0.0.0.0/0:443",
        "::/0",
        "tcp://*.example.com:*",
    ];
    for entry in allowed {
        assert_eq!(fault(List::Allow, entry), None, "{entry}");
    }
    for entry in ["localhost", "*.internal", "10.0.0.0/8", "evil.example", "0.0.0.0/0"] {
        assert_eq!(fault(List::Deny, entry), None, "{entry}");
    }
    let opened = ["10.1.2.0/24:5432", "169.254.169.254:80", "[fd00:ec2::254]:80", "8.8.8.8", "[::1]:3000", "127.0.0.1:*"];
    for entry in opened {
        assert_eq!(fault(List::Private, entry), None, "{entry}");
    }
}

#[test]
fn invalid_entries_have_a_fault() {
    let allowed = [
        ("", "an entry that is not empty"),
        ("https://example.com", "an entry without a scheme, or with the scheme tcp or udp"),
        ("example.com:0", "a port from 1 to 65535, a range such as 8000-8010, or *"),
        ("example.com:65536", "a port from 1 to 65535, a range such as 8000-8010, or *"),
        ("example.com:+80", "a port from 1 to 65535, a range such as 8000-8010, or *"),
        ("example.com:90-80", "a port from 1 to 65535, a range such as 8000-8010, or *"),
        ("example.com:", "a port from 1 to 65535, a range such as 8000-8010, or *"),
        ("*", "a host; outside: 'public' allows every public host"),
        ("*:443", "a host; outside: 'public' allows every public host"),
        ("api*.example.com", "a * only as the whole first label, such as *.example.com"),
        ("a.*.com", "a * only as the whole first label, such as *.example.com"),
        ("*.*.com", "a * only as the whole first label, such as *.example.com"),
        ("*.", "a name of at least one character"),
        ("user@example.com", "a name of letters, digits, hyphens, underscores and dots"),
        ("2130706433:80", "a name, and not an address in any form"),
        ("0x7f.1", "a name, and not an address in any form"),
        ("010.0.0.1", "a name, and not an address in any form"),
        ("[example.com]:80", "an IPv6 address in brackets, such as [2606:4700::1111]:443"),
        ("[2606:4700::1]443", "an IPv6 address in brackets, such as [2606:4700::1111]:443"),
        ("[2606:4700::1", "an IPv6 address in brackets, such as [2606:4700::1111]:443"),
        ("fe80::1%eth0", "an IPv4 or IPv6 address without a zone"),
        ("8.8.8.0/33", "a prefix of addresses, such as 203.0.113.0/24"),
        ("8.8.8.0/", "a prefix of addresses, such as 203.0.113.0/24"),
        ("example.com/24", "a prefix of addresses, such as 203.0.113.0/24"),
        ("8.8.8.8/24", "a prefix without host bits, such as 8.8.8.0/24"),
        ("10.0.0.0/8", "a public address; the list private opens addresses that are not public"),
        ("127.0.0.1:80", "a public address; the list private opens addresses that are not public"),
        ("::ffff:10.0.0.1", "a public address; the list private opens addresses that are not public"),
        ("localhost:3000", "a name that can be looked up outside the runtime"),
        ("db.internal", "a name that can be looked up outside the runtime"),
        ("*.local", "a name that can be looked up outside the runtime"),
        ("intranet", "a name that can be looked up outside the runtime"),
        ("dns.example.com:853", "an address for the port of a DNS server, because a resolver would look up any name"),
    ];
    for (entry, expected) in allowed {
        assert_eq!(fault(List::Allow, entry).map(|fault| fault.to_string()).as_deref(), Some(expected), "{entry}");
    }
    assert_eq!(fault(List::Allow, &"a".repeat(1_025)), Some(Fault::TooLong));
    assert_eq!(fault(List::Private, "example.com"), Some(Fault::NameInPrivate));
}

#[test]
fn a_wider_entry_does_not_open_a_metadata_service() {
    for entry in ["169.254.0.0/16:80", "0.0.0.0/0", "100.64.0.0/10", "fd00::/8", "[::/0]:80", "::ffff:169.254.0.0/112"] {
        assert!(matches!(fault(List::Private, entry), Some(Fault::CoversMetadata { .. })), "{entry}");
    }
    for entry in ["169.254.169.254", "169.254.169.254:*", "168.63.129.16:1-80", "fd00:ec2::254"] {
        assert!(matches!(fault(List::Private, entry), Some(Fault::MetadataPort { .. })), "{entry}");
    }
}

#[test]
fn an_error_names_the_entry_the_expectation_and_the_received_text() {
    let invalid = Policy::compile(options(&["a.example", "b.example"], &["c.example", "d example"], &[])).unwrap_err();
    let text = "network.deny[1]: expected a name of letters, digits, hyphens, underscores and dots, received \"d example\"";
    assert_eq!(invalid.to_string(), text);
    assert_eq!(coldframe_error::Error::from(invalid).to_string(), text);
    let many = EgressOptions { allow: vec!["a.example".to_owned(); MAX_ENTRIES + 1], ..EgressOptions::default() };
    assert_eq!(Policy::compile(many).unwrap_err().fault, Fault::TooMany { most: MAX_ENTRIES });
}

fn reason(policy: &Policy, host: &str, port: u16) -> &'static str {
    policy.judge_name(&name(host), port).reason().map_or("allowed", |reason| reason.as_str())
}

#[test]
fn the_deepest_rule_decides_and_deny_at_equal_depth() {
    let policy = Policy::compile(options(
        &["*.example.com", "up.example.com:8080", "*.deep.example.com:*", "both.example.com", "exact.example.com:443"],
        &["up.example.com", "*.evil.deep.example.com", "both.example.com", "exact.example.com"],
        &[],
    ))
    .unwrap();
    let cases = [
        ("a.example.com", 443, "allowed"),
        ("a.b.example.com", 443, "allowed"),
        ("example.com", 443, "not-allowed"),
        ("a.example.com", 80, "not-allowed"),
        ("up.example.com", 443, "denied"),
        ("up.example.com", 8_080, "allowed"),
        ("a.up.example.com", 443, "allowed"),
        ("a.deep.example.com", 1, "allowed"),
        ("a.deep.example.com", 25, "port"),
        ("a.deep.example.com", 53, "port"),
        ("a.evil.deep.example.com", 443, "denied"),
        ("both.example.com", 443, "denied"),
        ("exact.example.com", 443, "allowed"),
        ("exact.example.com", 80, "denied"),
        ("xexample.com", 443, "not-allowed"),
        ("localhost", 443, "special-name"),
    ];
    for (host, port, expected) in cases {
        assert_eq!(reason(&policy, host, port), expected, "{host}:{port}");
    }
    let rule = policy.judge_lookup(&name("a.deep.example.com")).rule().unwrap();
    assert_eq!(rule, RuleId { list: List::Allow, index: 2 });
    assert_eq!(policy.entry(rule), Some("*.deep.example.com:*"));
    assert_eq!(policy.wildcard(rule), Some(name("deep.example.com")));
    assert!(!policy.judge_lookup(&name("both.example.com")).is_allowed());
    assert!(policy.judge_text("A.EXAMPLE.COM.").is_allowed());
    assert_eq!(policy.judge_text("127.1").reason().map(|reason| reason.as_str()), Some("invalid-name"));
}

#[test]
fn a_public_policy_allows_every_name_except_denied_names_and_mail_and_dns_ports() {
    let public = EgressOptions { outside: Outside::Public, ..options(&["mail.example:25"], &["*.evil.example"], &[]) };
    let policy = Policy::compile(public).unwrap();
    assert_eq!(policy.judge_name(&name("any.example"), 8_080), Decision::Allowed { rule: None });
    assert_eq!(reason(&policy, "any.example", 25), "port");
    assert_eq!(reason(&policy, "any.example", 853), "port");
    assert_eq!(reason(&policy, "mail.example", 25), "allowed");
    assert_eq!(reason(&policy, "a.evil.example", 443), "denied");
    assert!(!policy.judge_lookup(&name("a.evil.example")).is_allowed());
    assert_eq!(reason(&policy, "any.internal", 443), "special-name");
}

#[test]
fn a_change_replaces_only_the_named_fields() {
    let present = options(&["a.example"], &["b.example"], &[]);
    let change = PolicyChange { deny: Change::Replace(texts(&["c.example"])), ..PolicyChange::default() };
    assert_eq!(change.apply(&present), options(&["a.example"], &["c.example"], &[]));
    let cleared = PolicyChange { allow: Change::Clear, ..PolicyChange::default() };
    assert_eq!(cleared.apply(&present), options(&[], &["b.example"], &[]));
}
