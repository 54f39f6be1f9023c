//! Policies: refusals, updates while bytes move, events, lists and dry runs.

mod common;

use coldframe_edge_link::*;
use common::*;
use std::collections::HashMap;

fn private(entries: &[String]) -> Options {
    Options { private: entries.to_vec(), limits: wide(), ..Options::default() }
}

fn replace_private(entries: &[String]) -> OptionsChange {
    OptionsChange { private: Change::Replace(entries.to_vec()), ..OptionsChange::default() }
}

#[test]
fn a_refused_address_receives_no_connection() {
    let (open, closed) = (Counting::echo(), Counting::echo());
    let mut sidecar = Sidecar::new();
    let refused = |sidecar: &mut Sidecar, flow, peer| reason(sidecar.connect(flow, peer).unwrap_err().unwrap());
    assert_eq!(refused(&mut sidecar, 1, open.address).0, "not-allowed", "a runtime without a policy");
    sidecar.set(1, private(&[open.address.to_string()]));
    assert_eq!(sidecar.connect(2, open.address), Ok(()));
    let port = closed.address.port();
    let forms = [
        closed.address,
        format!("[::ffff:127.0.0.1]:{port}").parse().unwrap(),
        format!("[::127.0.0.1]:{port}").parse().unwrap(),
        format!("0.0.0.0:{port}").parse().unwrap(),
        format!("[::]:{port}").parse().unwrap(),
        format!("[::1]:{port}").parse().unwrap(),
        format!("[64:ff9b::7f00:1]:{port}").parse().unwrap(),
        format!("127.255.0.1:{port}").parse().unwrap(),
    ];
    for (flow, peer) in forms.into_iter().enumerate() {
        assert_eq!(refused(&mut sidecar, 10 + flow as u32, peer).0, "private-address", "{peer}");
    }
    assert_eq!(refused(&mut sidecar, 30, "8.8.8.8:443".parse().unwrap()).0, "not-allowed");
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    assert_eq!(refused(&mut sidecar, 31, open.address).0, "not-allowed", "an ended runtime");
    assert_eq!((closed.count(), open.count()), (0, 1));
}

#[test]
fn a_wrong_entry_leaves_the_former_policy_in_force() {
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    let allowed = [echo.address.to_string()];
    sidecar.set(1, private(&allowed));
    let wrong = OptionsChange {
        private: Change::Clear,
        allow: Change::Replace(vec!["a.example".to_owned(), "b..example".to_owned()]),
        ..OptionsChange::default()
    };
    let invalid = |reply: ToSidecar<'static>| match reply {
        ToSidecar::Failed { failure: Failure { kind: FailureKind::InvalidEntry { list, index, entry, .. }, .. } } => {
            (list, index, entry)
        }
        other => panic!("{other:?}"),
    };
    let reply = sidecar.update(1, wrong, Existing::Recheck);
    assert_eq!(invalid(reply), ("allow".to_owned(), 1, "b..example".to_owned()));
    let servers = OptionsChange {
        private: Change::Clear,
        dns_servers: Change::Replace(vec!["example.com".to_owned()]),
        ..OptionsChange::default()
    };
    assert_eq!(invalid(sidecar.update(1, servers, Existing::Recheck)).0, "dns.servers");
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    let reply = sidecar.ask(&ToEdge::PolicySet { runtime: 2, options: private(&["a.example".to_owned()]) });
    assert_eq!(invalid(reply).0, "private");
    let unknown = sidecar.update(2, OptionsChange::default(), Existing::Keep);
    assert!(matches!(unknown, ToSidecar::Failed { failure: Failure { kind: FailureKind::Invalid { .. }, .. } }));
}

/// Flows to several listeners echo without a pause, and updates deny some listeners.
#[test]
fn an_update_under_traffic_cuts_exactly_the_flows_that_are_no_longer_allowed() {
    let listeners: Vec<Counting> = (0..4).map(|_| Counting::echo()).collect();
    let entries: Vec<String> = listeners.iter().map(|listener| listener.address.to_string()).collect();
    let mut sidecar = Sidecar::new();
    let rounds = coldframe_testing::repetitions(20, 300);
    let mut next = 0;
    for round in 0..rounds {
        sidecar.set(1, private(&entries));
        sidecar.set(2, private(&entries));
        let mut flows: HashMap<u32, (u64, usize)> = HashMap::new();
        for runtime in [1, 2] {
            for (place, listener) in listeners.iter().enumerate() {
                for _ in 0..4 {
                    next += 1;
                    assert_eq!(sidecar.connect_of(runtime, next, listener.address), Ok(()));
                    flows.insert(next, (runtime, place));
                    sidecar.send(next, &ToEdge::Data(&[7; 1_000]));
                }
            }
        }
        let kept = (round % 15 + 1) as usize;
        let is_kept = |place: usize| kept >> place & 1 == 1;
        let allowed: Vec<String> = (0..4).filter(|place| is_kept(*place)).map(|place| entries[place].clone()).collect();
        let request = 1_000_000 + round;
        let change = replace_private(&allowed);
        sidecar.send(request, &ToEdge::PolicyUpdate { runtime: 1, change, existing: Existing::Recheck });
        let expected = |flow: u32| flows[&flow].0 == 2 || is_kept(flows[&flow].1);
        let mut cut = 0;
        let mut is_done = false;
        let wanted = flows.keys().filter(|flow| !expected(**flow)).count();
        // Kept flows move bytes while the update is made.
        let mut echoes = 0;
        while !is_done || cut < wanted || echoes < 500 {
            let (id, got) = sidecar.wait(|id, got| Some((id, got.clone())));
            match got {
                Got::Data(bytes) => {
                    assert!(!is_done || expected(id), "a byte of a refused flow after the update");
                    echoes += 1;
                    sidecar.send(id, &ToEdge::Credit { bytes: bytes.len() as u64 });
                    sidecar.send(id, &ToEdge::Data(&bytes));
                }
                Got::Other(ToSidecar::Done {}) if id == request => is_done = true,
                Got::Other(ToSidecar::Credit { .. }) => {}
                Got::Other(ToSidecar::Closed { failure: Some(failure) }) => {
                    assert!(!expected(id), "an allowed flow was cut: {failure:?}");
                    assert_eq!(reason(failure.kind).0, "private-address");
                    cut += 1;
                    sidecar.send(id, &ToEdge::Close { reset: false });
                }
                other => panic!("{id} {other:?}"),
            }
        }
        assert_eq!(sidecar.flows(1).len() + sidecar.flows(2).len(), flows.len() - wanted);
        for flow in flows.keys().filter(|flow| expected(**flow)) {
            sidecar.send(*flow, &ToEdge::Close { reset: true });
        }
        flows.keys().filter(|flow| expected(**flow)).for_each(|flow| drop(sidecar.closed(*flow)));
        sidecar.forget();
    }
}

#[test]
fn an_update_can_keep_open_flows_and_refuses_new_ones() {
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, private(&[echo.address.to_string()]));
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    assert_eq!(sidecar.update(1, replace_private(&[]), Existing::Keep), ToSidecar::Done {});
    sidecar.send(1, &ToEdge::Data(b"kept"));
    assert_eq!(sidecar.receive(1, 4), b"kept");
    reason(sidecar.connect(2, echo.address).unwrap_err().unwrap());
    assert_eq!(sidecar.update(1, OptionsChange::default(), Existing::Recheck), ToSidecar::Done {});
    assert_eq!(reason(sidecar.closed(1).unwrap()).0, "private-address");
}

#[test]
fn a_runtime_s_flows_events_and_end_do_not_concern_other_runtimes() {
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    let entries = [echo.address.to_string()];
    for runtime in [1, 2] {
        sidecar.set(runtime, private(&entries));
        assert_eq!(sidecar.connect_of(runtime, runtime as u32, echo.address), Ok(()));
    }
    let listed = sidecar.flows(1);
    assert_eq!((listed.len(), listed[0].flow, listed[0].peer, listed[0].connected), (1, 1, echo.address, true));
    assert_eq!(listed[0].rule.as_ref().map(|rule| &*rule.entry), Some(&*entries[0]));
    sidecar.send(0, &ToEdge::RuntimeEnd { runtime: 1 });
    assert_eq!(sidecar.closed(1), Some(FailureKind::Errno(libc::ECONNRESET)));
    sidecar.send(2, &ToEdge::Data(b"alive"));
    assert_eq!(sidecar.receive(2, 5), b"alive");
    sidecar.finish().unwrap();
}

#[test]
fn a_watched_runtime_has_events_in_their_order() {
    let echo = Counting::echo();
    let mut sidecar = Sidecar::new();
    sidecar.set(1, private(&[echo.address.to_string()]));
    assert_eq!(sidecar.connect(1, echo.address), Ok(()));
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    sidecar.send(0, &ToEdge::Watch { runtime: 9, on: true });
    reason(sidecar.connect(2, "10.0.0.1:80".parse().unwrap()).unwrap_err().unwrap());
    assert_eq!(sidecar.connect(3, echo.address), Ok(()));
    sidecar.send(3, &ToEdge::Data(b"12345"));
    assert_eq!(sidecar.receive(3, 5), b"12345");
    sidecar.send(3, &ToEdge::Close { reset: false });
    let denied = sidecar.event();
    assert!(
        matches!(&denied, Event::Denied { refused: Refused::Connect { .. }, denied } if denied.reason == "private-address"),
        "{denied:?}"
    );
    let opened = sidecar.event();
    assert!(matches!(&opened, Event::Open { flow: 3, rule: Some(_), .. }), "{opened:?}");
    let closed = sidecar.event();
    assert!(matches!(closed, Event::Close { flow: 3, sent: 5, received: 5, reason: CloseReason::Closed, .. }), "{closed:?}");
    sidecar.update(1, replace_private(&[]), Existing::Recheck);
    let cut = sidecar.event();
    assert!(matches!(&cut, Event::Denied { refused: Refused::Flow { flow: 1, .. }, .. }), "{cut:?}");
    assert!(matches!(sidecar.event(), Event::Close { flow: 1, reason: CloseReason::Denied, .. }));
}

#[test]
fn events_that_the_sidecar_does_not_read_are_counted_and_not_stored() {
    let mut sidecar = Sidecar::new();
    sidecar.set(1, private(&[]));
    sidecar.send(0, &ToEdge::Watch { runtime: 1, on: true });
    // The messages are written before one is read, so that the link to the sidecar fills up.
    let mut writer = Sidecar::over(sidecar.stream.try_clone().unwrap());
    let count = 60_000;
    let thread = std::thread::spawn(move || {
        for flow in 0..count {
            writer.send(flow, &ToEdge::Connect { runtime: 1, peer: "10.0.0.1:80".parse().unwrap() });
            writer.send(flow, &ToEdge::Close { reset: false });
        }
    });
    thread.join().unwrap();
    let (mut closed, mut seen, mut lost_events) = (0, 0_u64, 0);
    while closed < count || seen + lost_events < u64::from(count) {
        match sidecar.wait(|_, got| Some(got.clone())) {
            Got::Other(ToSidecar::Closed { .. }) => closed += 1,
            Got::Other(ToSidecar::Event { lost, .. }) => {
                seen += 1;
                lost_events += lost;
            }
            other => panic!("{other:?}"),
        }
        if closed == count && seen + lost_events < u64::from(count) {
            // The count of the last lost events arrives with a further event.
            sidecar.send(count, &ToEdge::Connect { runtime: 1, peer: "10.0.0.1:80".parse().unwrap() });
            sidecar.send(count, &ToEdge::Close { reset: false });
            closed -= 1;
        }
    }
    assert!(seen > 1_000, "{seen} events, {lost_events} lost");
}

#[test]
fn a_dry_run_decides_without_a_connection() {
    let mut sidecar = Sidecar::new();
    let options = Options {
        allow: vec!["api.example.com".to_owned(), "*.example.org:8443".to_owned()],
        deny: vec!["bad.example.org".to_owned()],
        ..Options::default()
    };
    sidecar.set(1, options);
    let mut check = |runtime, url: &str| sidecar.ask(&ToEdge::Check { runtime, url: url.to_owned(), method: "GET".to_owned() });
    let mut reason = |runtime, url: &str| match check(runtime, url) {
        ToSidecar::Checked { decision: Decision::Allowed { rule } } => format!("allowed by {}", rule.unwrap().entry),
        ToSidecar::Checked { decision: Decision::Refused(denied) } => denied.reason,
        ToSidecar::Failed { failure: Failure { kind: FailureKind::Invalid { what, .. }, .. } } => format!("invalid {what}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(1, "https://api.example.com/x"), "allowed by api.example.com");
    assert_eq!(reason(1, "https://a.example.org:8443/"), "allowed by *.example.org:8443");
    assert_eq!(reason(1, "https://bad.example.org:8443/"), "denied");
    assert_eq!(reason(1, "http://api.example.com/"), "not-allowed");
    assert_eq!(reason(1, "http://127.0.0.1/"), "private-address");
    assert_eq!(reason(1, "http://localhost/"), "special-name");
    assert_eq!(reason(1, "nothing"), "invalid url");
    assert_eq!(reason(9, "https://api.example.com/"), "not-allowed");
}
