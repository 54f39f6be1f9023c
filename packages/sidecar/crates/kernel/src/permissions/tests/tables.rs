//! Tables of requests with the expected decisions of a policy. A rule that begins with `-` denies,
//! and a rule that begins with `+` allows.

use super::*;
use crate::permissions::DeniedBy;
use crate::permissions::hosts::Peer;
use Verdict::{Allow, Deny};

fn paths(default: Verdict, rules: &[&str], cases: &[(&str, bool)]) {
    let policy = compiled(Scope::Fs, default, rules);
    for (path, expected) in cases {
        let allowed = policy.allowed(About::Path(path.as_bytes())) & files::READ != 0;
        assert_eq!(allowed, *expected, "{rules:?} {path}");
    }
}

#[test]
fn a_pattern_covers_its_path_and_everything_below() {
    paths(
        Allow,
        &["-/secret"],
        &[("/secret", false), ("/secret/a/b", false), ("/secrets", true), ("/", true), ("/a/secret", true)],
    );
    paths(Deny, &["+/data/"], &[("/data", true), ("/data/x", true), ("/", false), ("/dat", false)]);
    paths(Allow, &["-/"], &[("/", false), ("/x", false)]);
    paths(Allow, &["-"], &[("/", false), ("/x", false)]);
}

#[test]
fn the_deepest_rule_decides_and_a_denying_rule_at_equal_depth() {
    let nested = ["-/a", "+/a/b", "-/a/b/c"];
    paths(
        Allow,
        &nested,
        &[("/a", false), ("/a/x", false), ("/a/b", true), ("/a/b/x", true), ("/a/b/c", false), ("/a/b/c/d", false)],
    );
    for rules in [["+/a/b", "-/a/b"], ["-/a/b", "+/a/b"], ["-/a/*", "+/a/b"], ["+/a/b", "-/*/b"]] {
        paths(Allow, &rules, &[("/a/b", false), ("/a/b/c", false)]);
    }
    // The order of the rules in the list has no effect.
    paths(Deny, &["+/a/b", "-/a"], &[("/a/b/c", true), ("/a/c", false)]);
}

#[test]
fn a_star_ends_at_a_slash_and_two_stars_do_not() {
    paths(Allow, &["-/a/*.db"], &[("/a/x.db", false), ("/a/x.db/in", false), ("/a/b/x.db", true), ("/a/x.dbx", true)]);
    paths(Allow, &["-/a/?"], &[("/a/x", false), ("/a/xy", true), ("/a/\u{e4}", false)]);
    paths(Allow, &["-**/.env"], &[("/.env", false), ("/a/b/.env", false), ("/a/.env/x", false), ("/a/.envs", true)]);
    paths(Allow, &["-/a/**/z"], &[("/a/z", false), ("/a/b/c/z", false), ("/z", true), ("/a/b", true)]);
    paths(Allow, &["-/a/**"], &[("/a", false), ("/a/b", false), ("/b", true)]);
    paths(Allow, &["-**"], &[("/", false), ("/a", false)]);
    // The deeper rule decides, with or without `**`.
    paths(
        Deny,
        &["+/job", "-**/.env", "+/job/public/.env/sample"],
        &[("/job/a", true), ("/job/deep/down/.env", false), ("/job/public/.env", false), ("/job/public/.env/sample", true)],
    );
    paths(Allow, &["-/a/**", "+/a/b"], &[("/a/b", true), ("/a/c", false)]);
}

#[test]
fn a_rule_may_cover_only_some_operations() {
    let policy = compiled(Scope::Fs, Deny, &["+/data | read stat", "-/data/x | read", "+/data/x/y"]);
    let allowed = |path: &str| {
        let set = policy.allowed(About::Path(path.as_bytes()));
        each(Scope::Fs, set).map(|(_, name)| name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(allowed("/data/a"), "read stat");
    assert_eq!(allowed("/data/x"), "stat");
    assert_eq!(allowed("/data/x/y/z").split(' ').count(), 16);
    assert_eq!(allowed("/other"), "");
}

#[test]
fn allows_stat_on_directories_that_lead_to_an_allowed_path() {
    let policy = compiled(Scope::Fs, Deny, &["+/a/b/c | read", "-/x | stat", "+/x/*/z | write", "+**/q"]);
    let stat = |path: &str| policy.allowed(About::Path(path.as_bytes())) == files::STAT;
    assert!(stat("/") && stat("/a") && stat("/a/b") && stat("/x") && stat("/x/any"));
    assert!(!stat("/b") && !stat("/a/c") && !stat("/x/any/other"));
}

#[test]
fn an_invalid_rule_is_refused_with_its_place() {
    let of = |scope, rules: &[&str]| refused(&policy(scope, Allow, rules));
    assert_eq!(of(Scope::Fs, &["+/a", "-relative"]).0, "permissions.fs.rules[1].paths[0]");
    for path in ["-/a/../b", "-/a/.", "-*.js", "-../x", "-/a\0b"] {
        assert_eq!(of(Scope::Fs, &[path]).0, "permissions.fs.rules[0].paths[0]", "{path}");
    }
    let (what, expected) = of(Scope::Fs, &["-/a | read delete"]);
    assert_eq!(what, "permissions.fs.rules[0].operations[1]");
    assert!(expected.contains("rm") && expected.contains("create_dir"), "{expected}");
    for pattern in ["-host:", "-host:x", "-host:70000", "-host:9-1", "-http://x", "-a/b", "-[::1", "-[::1]x"] {
        assert_eq!(of(Scope::Network, &[pattern]).0, "permissions.network.rules[0].patterns[0]", "{pattern}");
    }
    let many: Vec<String> = (0..1_025).map(|n| format!("-/{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(of(Scope::Fs, &many).0, "permissions.fs.rules[1024].paths[0]");
    let deep = format!("-{}", "/x".repeat(65));
    assert_eq!(of(Scope::Fs, &[&deep]).0, "permissions.fs.rules[0].paths[0]");
}

#[test]
fn matches_hosts_and_ports() {
    let ask = |rules: &[&str], default, peer: Peer<'_>| {
        compiled(Scope::Network, default, rules).allowed(About::Peer(peer)) & bit(Scope::Network, "connect") != 0
    };
    let at = |text: &str, port| Peer::Address(text.parse().expect(text), port);
    for local in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"] {
        assert!(ask(&["+localhost:80"], Deny, at(local, 80)), "{local}");
        assert!(!ask(&["+localhost:80"], Deny, at(local, 81)), "{local}");
    }
    assert!(!ask(&["+localhost"], Deny, at("10.0.0.1", 80)));
    assert!(ask(&["+*:443"], Deny, at("10.0.0.1", 443)) && !ask(&["+*:443"], Deny, at("10.0.0.1", 80)));
    assert!(ask(&["+10.0.*:80-90"], Deny, at("10.0.3.1", 85)) && !ask(&["+10.0.*:80-90"], Deny, at("10.0.3.1", 91)));
    assert!(ask(&["+[::1]:80"], Deny, at("::1", 80)) && ask(&["+0:0::1"], Deny, at("::1", 80)));
    assert!(ask(&["+tcp://10.0.0.1:80"], Deny, at("10.0.0.1", 80)) && !ask(&["+udp://10.0.0.1:80"], Deny, at("10.0.0.1", 80)));
    // The unspecified address includes the loopback. A rule about a loopback address therefore also
    // covers a server on the unspecified address.
    assert!(!ask(&["-127.0.0.1:80"], Allow, at("0.0.0.0", 80)) && !ask(&["-::1"], Allow, at("::", 80)));
    // A pattern with a more specific host ranks above a pattern with a port. A pattern with a port
    // ranks above a pattern without a port. If two rules have equal ranks, the denying rule
    // decides.
    assert!(
        ask(&["-*:80", "+10.0.0.1"], Allow, at("10.0.0.1", 80))
            && !ask(&["+10.0.0.1", "-10.0.0.1:80"], Allow, at("10.0.0.1", 80))
    );
    assert!(!ask(&["+10.0.0.1:80", "-10.0.0.1:70-90"], Allow, at("10.0.0.1", 80)));
    assert!(ask(&["-*", "+unix:app*"], Allow, Peer::Unix(b"app1")) && !ask(&["-*"], Allow, Peer::Unix(b"app1")));
    let name = |rules: &[&str], name| {
        compiled(Scope::Network, Deny, rules).allowed(About::Peer(Peer::Name(name))) & bit(Scope::Network, "dns") != 0
    };
    assert!(name(&["+*.example.com:443"], "API.Example.com.") && !name(&["+*.example.com"], "example.com"));
    assert!(name(&["+localhost"], "app.localhost") && name(&["+dns://a.b"], "a.b") && !name(&["+tcp://a.b"], "a.b"));
}

#[test]
fn the_default_policy_allows_only_peers_inside_the_runtime() {
    let policy = Compiled::new(&PermissionPolicy::default()).expect("the default");
    let allowed = |about| policy.allowed(about);
    let network = all(Scope::Network);
    assert_eq!(allowed(About::Peer(Peer::Address("127.0.0.1".parse().expect("an address"), 1))), network);
    assert_eq!(allowed(About::Peer(Peer::Unix(b"x"))), network);
    assert_eq!(allowed(About::Peer(Peer::Address("1.1.1.1".parse().expect("an address"), 443))), 0);
    assert_eq!(allowed(About::Peer(Peer::Name("example.com"))), 0);
    assert_eq!(allowed(About::Path(b"/etc/passwd")), all(Scope::Fs));
    assert_eq!(policy.checked_scopes, 0, "no scope of the default policy needs checks");
}

#[test]
fn a_name_with_fewer_wildcards_ranks_higher() {
    let env = |rules: &[&str], name| compiled(Scope::Env, Deny, rules).allowed(About::Variable(name)) != 0;
    let rules = ["+NODE_*", "-NODE_OPT*", "+NODE_OPTIONS", "-*"];
    assert!(env(&rules, "NODE_ENV") && !env(&rules, "NODE_OPTS") && env(&rules, "NODE_OPTIONS") && !env(&rules, "HOME"));
    assert!(!env(&["+AB*", "-*AB"], "ABAB") && !env(&["+A", "-A"], "A"));
    let call = |rules: &[&str], name| compiled(Scope::Binding, Allow, rules).allowed(About::Binding(name)) != 0;
    assert!(!call(&["-db.*"], "db.drop") && call(&["-db.*", "+db.read"], "db.read") && call(&["-db.*"], "mail"));
    let permissions = Permissions::default();
    permissions.set(&policy(Scope::Binding, Allow, &["-db.*"])).expect("a good policy");
    let denied = permissions.check_binding("db.drop").expect_err("denied");
    assert_eq!(denied.by, DeniedBy::Rule(0));
    assert_eq!(permissions.check_binding("mail"), Ok(()));
}

#[test]
fn matches_programs_by_file_and_by_name() {
    let run = |rules: &[&str], path: &str, name: &str| {
        compiled(Scope::ChildProcess, Deny, rules).allowed(About::Program(path.as_bytes(), name)) != 0
    };
    assert!(run(&["+node"], "/usr/local/bin/node", "node") && run(&["+node"], "/tmp/copy", "node"));
    assert!(!run(&["+node"], "/tmp/node", "sh") && run(&["+/bin"], "/bin/ls", "ls") && !run(&["+/bin"], "/tmp/ls", "ls"));
    // A rule about a program's name has the depth of the file's path.
    assert!(
        !run(&["+/bin/sh", "-sh"], "/bin/sh", "sh")
            && !run(&["-/bin/sh", "+sh"], "/bin/sh", "sh")
            && run(&["-/bin", "+sh"], "/bin/sh", "sh")
    );
    assert!(
        run(&["-*", "+/bin/ls"], "/bin/ls", "ls")
            && run(&["+*", "-s*"], "/bin/ls", "ls")
            && !run(&["+*", "-s*"], "/bin/sh", "sh")
    );
}

#[test]
fn returns_the_rule_that_decides() {
    let policy = compiled(Scope::Fs, Allow, &["-/a | write", "+/a/b", "-/a/b | read", "-/a/b"]);
    let rule = |path: &str, operation| policy.decider(About::Path(path.as_bytes()), operation).map(|effect| effect.rule);
    assert_eq!((rule("/a/x", files::WRITE), rule("/a/x", files::READ)), (Some(0), None));
    assert_eq!((rule("/a/b/c", files::READ), rule("/a/b", files::WRITE)), (Some(2), Some(3)));
    let policy = compiled(Scope::Network, Deny, &["+*", "-localhost", "-localhost:80"]);
    let peer = |port| About::Peer(Peer::Address("127.0.0.1".parse().expect("an address"), port));
    let listen = bit(Scope::Network, "listen");
    let rule = |port| policy.decider(peer(port), listen).map(|effect| effect.rule);
    assert_eq!((rule(80), rule(81)), (Some(2), Some(1)));
}
