//! Updates of a policy while connections are open.

use super::{current, options, texts};
use crate::{
    Admission, Change, Connect, Existing, HostFacts, HostNetwork, PinSet, PolicyCell, PolicyChange, judge_again, judge_connect,
};
use std::time::Instant;

fn admitted(cell: &PolicyCell) -> Admission {
    match judge_connect(&cell.current(), &PinSet::default(), "8.8.8.8:443".parse().unwrap(), Instant::now()) {
        Connect::Admitted(admission) => admission,
        other => panic!("{other:?}"),
    }
}

fn deny(entry: &str) -> PolicyChange {
    PolicyChange { deny: Change::Replace(texts(&[entry])), ..PolicyChange::default() }
}

#[test]
fn an_update_has_open_connections_judged_again_once() {
    let cell = PolicyCell::new(current(options(&["8.8.8.8"], &[], &[])));
    let admission = admitted(&cell);
    assert!(!cell.needs_recheck(&admission));
    let generation = cell.update(deny("9.9.9.9"), Existing::Recheck).unwrap();
    assert!(cell.needs_recheck(&admission));
    let again = judge_again(&cell.current(), &PinSet::default(), &admission, Instant::now()).unwrap();
    assert_eq!((again.generation(), again.peer()), (generation, admission.peer()));
    assert!(!cell.needs_recheck(&again));
    cell.update(deny("8.8.8.8"), Existing::Recheck).unwrap();
    assert!(judge_again(&cell.current(), &PinSet::default(), &again, Instant::now()).is_err());
}

#[test]
fn an_update_that_keeps_connections_is_judged_with_the_next_update() {
    let cell = PolicyCell::new(current(options(&["8.8.8.8"], &[], &[])));
    let admission = admitted(&cell);
    cell.update(deny("8.8.8.8"), Existing::Keep).unwrap();
    assert!(!cell.needs_recheck(&admission));
    cell.update(PolicyChange::default(), Existing::Recheck).unwrap();
    assert!(cell.needs_recheck(&admission));
}

#[test]
fn an_invalid_update_changes_nothing() {
    let cell = PolicyCell::new(current(options(&["8.8.8.8"], &[], &[])));
    let before = cell.current();
    assert!(cell.update(deny("not a host"), Existing::Recheck).is_err());
    assert_eq!(cell.current().generation(), before.generation());
    assert_eq!(cell.current().policy().options(), before.policy().options());
}

#[test]
fn a_new_address_of_the_host_machine_refuses_open_connections() {
    let cell = PolicyCell::new(current(options(&["8.8.8.8"], &[], &[])));
    let admission = admitted(&cell);
    cell.set_host(HostNetwork::new(HostFacts { addresses: vec!["8.8.8.8".parse().unwrap()], ..HostFacts::default() }));
    assert!(cell.needs_recheck(&admission));
    let refused = judge_again(&cell.current(), &PinSet::default(), &admission, Instant::now()).unwrap_err();
    assert_eq!(refused.reason().unwrap().as_str(), "private-address");
}
