//! Tests that a listener receives every decision in order, and the number of dropped decisions.

use super::*;
use crate::permissions::policy::PermissionListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Default)]
struct CountingListener(AtomicU32);

impl PermissionListener for CountingListener {
    fn pending(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn ask(permissions: &Permissions, path: &str) -> bool {
    permissions.check(About::Path(path.as_bytes()), files::READ).is_ok()
}

#[test]
fn stores_no_decisions_without_a_listener() {
    let permissions = Permissions::default();
    permissions.set(&policy(Scope::Fs, Verdict::Allow, &["-/a"])).expect("good");
    assert!(!ask(&permissions, "/a"));
    let listener = Arc::new(CountingListener::default());
    permissions.listen(Some(listener.clone()));
    assert_eq!(permissions.take(10), crate::permissions::policy::Decisions::default());
    assert!(!ask(&permissions, "/a") && ask(&permissions, "/b"));
    assert_eq!(listener.0.load(Ordering::Relaxed), 1, "one notification");
    let taken = permissions.take(10);
    let seen: Vec<_> = taken.decisions.iter().map(|d| (d.scope, d.operation, &*d.resource, d.verdict, d.rule)).collect();
    assert_eq!(seen, [(Scope::Fs, "read", "/a", Verdict::Deny, Some(0)), (Scope::Fs, "read", "/b", Verdict::Allow, None)]);
    assert_eq!(permissions.take(10), crate::permissions::policy::Decisions::default());
    ask(&permissions, "/c");
    assert_eq!(listener.0.load(Ordering::Relaxed), 2, "a new notification after all were taken");
    permissions.listen(None);
    ask(&permissions, "/d");
    assert_eq!(permissions.take(10), crate::permissions::policy::Decisions::default());
}

#[test]
fn reports_decisions_of_scopes_without_rules() {
    let permissions = Permissions::default();
    assert!(!permissions.checks(Scope::Fs));
    permissions.listen(Some(Arc::new(CountingListener::default())));
    assert!(ask(&permissions, "/x") && permissions.checks(Scope::Binding));
    permissions.set(&policy(Scope::Fs, Verdict::Deny, &[])).expect("good");
    assert!(!ask(&permissions, "/x"));
    assert_eq!(permissions.take(9).decisions.len(), 2);
    permissions.listen(None);
    assert!(permissions.checks(Scope::Fs) && !permissions.checks(Scope::Env));
}

#[test]
fn drops_and_counts_the_newest_decisions_when_the_queue_is_full() {
    let permissions = Permissions::default();
    permissions.listen(Some(Arc::new(CountingListener::default())));
    for n in 0..5_000 {
        ask(&permissions, &format!("/{n}"));
    }
    let mut received = Vec::new();
    let lost = loop {
        let taken = permissions.take(1_000);
        received.extend(taken.decisions.into_iter().map(|decision| decision.resource));
        if taken.lost > 0 {
            break taken.lost;
        }
        assert!(received.len() < 5_000);
    };
    assert_eq!(received, (0..4_096).map(|n| format!("/{n}")).collect::<Vec<_>>());
    assert_eq!(lost, 5_000 - 4_096);
    ask(&permissions, "/after");
    assert_eq!(permissions.take(10).decisions[0].resource, "/after");
}

#[test]
fn bounds_the_queue_by_the_bytes_of_resources() {
    let permissions = Permissions::default();
    permissions.listen(Some(Arc::new(CountingListener::default())));
    let long = format!("/{}", "x".repeat(4_000));
    for _ in 0..1_000 {
        ask(&permissions, &long);
    }
    let taken = permissions.take(usize::MAX);
    assert_eq!(taken.decisions.len(), (1 << 20) / 4_001);
    assert_eq!(taken.lost, 1_000 - taken.decisions.len() as u64);
}

#[test]
fn an_invalid_policy_changes_nothing() {
    let permissions = Permissions::default();
    permissions.set(&policy(Scope::Fs, Verdict::Allow, &["-/a"])).expect("good");
    permissions.set(&policy(Scope::Fs, Verdict::Allow, &["-/b", "-c"])).expect_err("not a path");
    assert!(!ask(&permissions, "/a") && ask(&permissions, "/b"));
}

#[test]
fn a_replaced_kernel_passes_its_queue_to_the_next_kernel() {
    let (before, next) = (Permissions::default(), Permissions::default());
    let listener = Arc::new(CountingListener::default());
    before.listen(Some(listener.clone()));
    ask(&before, "/before");
    next.take_over(&before);
    ask(&before, "/ended");
    ask(&next, "/next");
    let taken = [&before, &next].map(|permissions| permissions.take(1).decisions.remove(0).resource);
    assert_eq!(taken, ["/before", "/next"], "both have one queue");
    assert_eq!(next.take(10).decisions, []);
    assert_eq!(listener.0.load(Ordering::Relaxed), 1, "the first notification is for both decisions");
    assert!(!before.checks(Scope::Fs) && next.checks(Scope::Fs));
}
