//! The rules about HTTP.

use super::*;
use crate::{EgressOptions, InvalidEntry, List, Name, Outside, Policy, RuleId};
use proptest::prelude::*;

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

fn rule(host: &str, methods: Option<&[&str]>, paths: Option<&[&str]>) -> HttpRule {
    HttpRule { host: host.to_owned(), methods: methods.map(texts), paths: paths.map(texts), ..HttpRule::default() }
}

fn policy(options: EgressOptions) -> Policy {
    Policy::compile(options).unwrap()
}

fn with(http: Vec<HttpRule>) -> Policy {
    policy(EgressOptions { http, ..EgressOptions::default() })
}

fn judge(policy: &Policy, host: &str, port: u16, method: &str, path: &str) -> Result<(), &'static str> {
    let judged = policy.judge_request(&Name::parse(host).unwrap(), port, method, path);
    judged.decision.reason().map_or(Ok(()), |reason| Err(reason.as_str()))
}

fn normal(text: &str) -> Option<String> {
    RequestPath::parse(text).map(|path| path.to_string())
}

#[test]
fn normalises_paths_to_one_form() {
    for (text, expected) in [
        ("/", "/"),
        ("/a/b", "/a/b"),
        ("//a///b", "/a/b"),
        ("/a/./b/../c", "/a/c"),
        ("/a/%2e%2E/c", "/c"),
        ("/a//../../x", "/x"),
        ("/../..", "/"),
        ("/a/..", "/"),
        ("/a/b/.", "/a/b/"),
        ("/a/", "/a/"),
        ("/%41%7e%2d", "/A~-"),
        ("/%c3%a9?".trim_end_matches('?'), "/%C3%A9"),
        ("/a%252e", "/a%252e"),
        ("/a;b=1/c", "/a;b=1/c"),
    ] {
        assert_eq!(normal(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn refuses_paths_that_servers_read_in_different_ways() {
    for text in [
        "",
        "a",
        "*",
        "/%2f",
        "/a%2Fb",
        "/%5c",
        "/a\\b",
        "/%00",
        "/\0",
        "/%0d%0a",
        "/%7f",
        "/a b",
        "/é",
        "/%",
        "/%2",
        "/%zz",
        "/%+1",
        "/a/..;/b",
        "/a/.;x/b",
        "/a/..%3b/b",
        "/a/%2e%2e;/b",
        "/a?b",
        "/a#b",
    ] {
        assert_eq!(normal(text), None, "{text:?}");
    }
    assert!(normal(&format!("/{}", "a".repeat(MAX_PATH_BYTES - 1))).is_some());
    assert!(normal(&format!("/{}", "a".repeat(MAX_PATH_BYTES))).is_none());
}

#[test]
fn patterns_match_segments() {
    let matches = |pattern: &str, path: &str| PathPattern::parse(pattern).unwrap().matches(&RequestPath::parse(path).unwrap());
    for (pattern, path) in [
        ("/repos/acme/**", "/repos/acme"),
        ("/repos/acme/**", "/repos/acme/"),
        ("/repos/acme/**", "/repos/acme/a/b/c"),
        ("/**", "/"),
        ("/**", "/a/b"),
        ("/**/raw", "/raw"),
        ("/**/raw/**", "/a/b/raw/c"),
        ("/a/*/c", "/a/b/c"),
        ("/a/*.js", "/a/x.y.js"),
        ("/a/*-*", "/a/b-c-d"),
        ("/a/*", "/a/"),
        ("/", "/"),
    ] {
        assert!(matches(pattern, path), "{pattern} {path}");
    }
    for (pattern, path) in [
        ("/repos/acme/**", "/repos/acmeX"),
        ("/repos/acme/**", "/repos"),
        ("/repos", "/repos/"),
        ("/repos/", "/repos"),
        ("/repos", "/repos/a"),
        ("/a/*/c", "/a/b/b/c"),
        ("/a/*.js", "/a/b/c.js"),
        ("/**/raw", "/raw/a"),
        ("/A", "/a"),
    ] {
        assert!(!matches(pattern, path), "{pattern} {path}");
    }
}

#[test]
fn a_host_with_rules_is_refused_except_for_what_a_rule_allows() {
    let policy = with(vec![
        rule("api.test", Some(&["GET", "HEAD"]), Some(&["/repos/acme/**"])),
        rule("api.test", Some(&["POST"]), Some(&["/graphql"])),
        rule("*.wide.test", None, None),
        rule("x.wide.test:8080", Some(&["PUT"]), None),
    ]);
    assert_eq!(judge(&policy, "api.test", 443, "GET", "/repos/acme/x"), Ok(()));
    assert_eq!(judge(&policy, "api.test", 443, "POST", "/graphql"), Ok(()));
    assert_eq!(judge(&policy, "api.test", 443, "DELETE", "/repos/acme/x"), Err("method"));
    assert_eq!(judge(&policy, "api.test", 443, "GET", "/graphql"), Err("method"));
    assert_eq!(judge(&policy, "api.test", 443, "GET", "/repos/acme/../other"), Err("path"));
    assert_eq!(judge(&policy, "api.test", 443, "GET", "/repos/acme%2fx"), Err("invalid-path"));
    assert_eq!(judge(&policy, "api.test", 443, "get", "/repos/acme/x"), Err("method"));
    // The rule opens port 443 alone.
    assert_eq!(judge(&policy, "api.test", 80, "GET", "/repos/acme/x"), Err("denied"));
    assert_eq!(judge(&policy, "b.wide.test", 443, "POST", "/%2f"), Ok(()));
    assert_eq!(judge(&policy, "b.wide.test", 443, "CONNECT", "/"), Err("method"));
    assert_eq!(judge(&policy, "b.wide.test", 443, "TRACE", "/"), Err("method"));
    // The deepest host counts.
    assert_eq!(judge(&policy, "x.wide.test", 8080, "PUT", "/"), Ok(()));
    assert_eq!(judge(&policy, "x.wide.test", 8080, "GET", "/"), Err("method"));
    assert_eq!(judge(&policy, "x.wide.test", 443, "PUT", "/"), Err("denied"));
    assert_eq!(judge(&policy, "wide.test", 443, "PUT", "/"), Err("not-allowed"));
}

#[test]
fn the_judged_path_is_returned_if_rules_depend_on_paths() {
    let policy = with(vec![rule("a.test", None, Some(&["/x/**"])), rule("b.test", None, None)]);
    let path = |host: &str| policy.judge_request(&Name::parse(host).unwrap(), 443, "GET", "/y/..//x/%41").path;
    assert_eq!(path("a.test").unwrap().as_str(), "/x/A");
    assert_eq!(path("b.test"), None);
}

#[test]
fn a_rule_closes_the_other_ports_of_its_host() {
    let name = Name::parse("api.test").unwrap();
    let http = vec![rule("api.test", Some(&["GET"]), None)];
    let public = policy(EgressOptions { outside: Outside::Public, http: http.clone(), ..EgressOptions::default() });
    assert!(public.judge_name(&name, 443).is_allowed() && !public.judge_name(&name, 80).is_allowed());
    assert!(public.judge_name(&Name::parse("other.test").unwrap(), 80).is_allowed());
    let opened = policy(EgressOptions { allow: texts(&["api.test:80"]), http: http.clone(), ..EgressOptions::default() });
    assert!(opened.judge_name(&name, 443).is_allowed() && opened.judge_name(&name, 80).is_allowed());
    assert!(opened.http_rules(&name, 80).is_empty() && opened.http_rules(&name, 443) == vec![&http[0]]);
    let denied = policy(EgressOptions { deny: texts(&["api.test:443"]), http, ..EgressOptions::default() });
    assert_eq!(judge(&denied, "api.test", 443, "GET", "/"), Err("denied"));
}

#[test]
fn reports_the_rule_that_decides() {
    let options = EgressOptions {
        allow: texts(&["a.test"]),
        private: texts(&["10.0.0.1:80"]),
        http: vec![rule("b.test", None, None), rule("c.test:81", Some(&["GET"]), None)],
        ..EgressOptions::default()
    };
    let policy = policy(options);
    let name = |text: &str| Name::parse(text).unwrap();
    let id = |index| Some(RuleId { list: List::Http, index });
    assert_eq!(policy.judge_name(&name("b.test"), 443).rule(), id(0));
    let judged = policy.judge_request(&name("c.test"), 81, "POST", "/");
    assert_eq!((judged.decision.rule(), judged.decision.is_allowed()), (id(1), false));
    assert_eq!(policy.entry(RuleId { list: List::Http, index: 1 }), Some("c.test:81"));
    assert_eq!(policy.judge_name(&name("a.test"), 443).rule(), Some(RuleId { list: List::Allow, index: 0 }));
}

#[test]
fn refuses_rules_that_could_never_take_effect() {
    let fault = |rule: HttpRule| match Policy::compile(EgressOptions {
        http: vec![super::HttpRule { host: "ok.test".to_owned(), ..HttpRule::default() }, rule],
        ..EgressOptions::default()
    }) {
        Err(InvalidEntry { list: List::Http, index: 1, fault, .. }) => Some(fault),
        Err(other) => panic!("{other:?}"),
        Ok(_) => None,
    };
    assert_eq!(fault(rule("a.test", None, None)), None);
    for host in ["", "10.0.0.1", "10.0.0.0/8", "*", "localhost", "http://a.test", "a.test/x"] {
        assert!(fault(rule(host, None, None)).is_some(), "{host}");
    }
    for method in ["get", "", "G T", "CONNECT", "TRACE", "GET\n", &"A".repeat(33)] {
        assert!(fault(rule("a.test", Some(&[method]), None)).is_some(), "{method}");
    }
    for path in ["", "a", "/a?b", "/a/../b", "/a//b", "/a**", "/%2f", "/%41", &format!("/{}", "a".repeat(1_024))] {
        assert!(fault(rule("a.test", None, Some(&[path]))).is_some(), "{path}");
    }
    assert_eq!(fault(rule("a.test", Some(&[]), None)), Some(crate::Fault::EmptyList));
    assert_eq!(fault(rule("a.test", None, Some(&["/a"; 65]))), Some(crate::Fault::TooMany { most: MAX_PATHS }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(coldframe_testing::repetitions(500, 50_000)))]

    #[test]
    fn a_normalised_path_is_normal(text in "/([ab.;*]|%2[eEfF]|%41|/){0,20}") {
        if let Some(path) = RequestPath::parse(&text) {
            prop_assert_eq!(RequestPath::parse(path.as_str()), Some(path.clone()));
            let is_plain = |segment: &str| segment != "." && segment != "..";
            prop_assert!(path.segments().all(is_plain) && !path.as_str().contains("//"));
        }
    }

    #[test]
    fn any_text_is_normalised_or_refused(text in any::<String>()) {
        if let Some(path) = RequestPath::parse(&format!("/{text}")) {
            prop_assert!(path.as_str().is_ascii());
            prop_assert_eq!(RequestPath::parse(path.as_str()), Some(path.clone()));
        }
    }
}
