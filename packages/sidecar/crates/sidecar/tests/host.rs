//! Tests of host calls, with the test as the SDK: calls, results, and results that no call waits
//! for.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(dead_code, reason = "each test file uses its part of `common`")]

mod common;

use coldframe_ids::{Pid, RuntimeId};
use coldframe_protocol::messages::*;
use common::{Parent, fact, other, program, runtime, text};

fn set(runtime: RuntimeId, names: &[&'static str]) -> BindingsSet<'static> {
    let bindings = names.iter().map(|name| Binding { name, commands: vec![name], input_bytes: 100 }).collect();
    BindingsSet { runtime, bindings }
}

fn ok(runtime: RuntimeId, ok: &[u8]) -> HostResult<'_> {
    HostResult { runtime, ok: Some(ok), failure: None }
}

#[test]
fn a_host_call_gets_its_result_while_its_request_waits() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    assert_eq!(parent.ask(Kind::BindingsSet, 2, &set(runtime, &["weather"])).kind, Kind::Reply);
    parent.send(Kind::ProcessStart, 3, &program(runtime, "console.log(await callBinding('weather', 'Oslo'))"));
    let received = parent.receive();
    let call: HostCall<'_> = received.read();
    assert_eq!(
        (received.kind, call.runtime, call.service, call.name, call.input),
        (Kind::HostCall, runtime, "binding", "weather", &b"\"Oslo\""[..])
    );
    // Results of unknown calls and of unknown runtimes are ignored.
    parent.send(Kind::HostResult, received.id + 1, &ok(runtime, b"=1"));
    parent.send(Kind::HostResult, received.id, &ok(other(runtime), b"=2"));
    parent.send(Kind::HostResult, 0, &ok(runtime, b"=3"));
    parent.send(Kind::HostResult, received.id, &ok(runtime, b"=\"cold\""));
    parent.send(Kind::HostResult, received.id, &ok(runtime, b"=\"twice\""));
    let reply = parent.receive();
    assert_eq!((reply.kind, reply.id), (Kind::Reply, 3));
    assert_eq!(reply.read::<Outcome<'_>>().stdout, b"cold\n");
    parent.assert_alive();
}

#[test]
fn each_runtime_counts_its_own_calls() {
    let mut parent = Parent::new(&[]);
    let runtimes =
        [parent.runtime(), parent.ask(Kind::RuntimeCreate, 4, &RuntimeCreate::default()).read::<RuntimeCreated>().runtime];
    for (n, runtime) in runtimes.into_iter().enumerate() {
        let id = 10 + n as u32;
        assert_eq!(parent.ask(Kind::BindingsSet, id, &set(runtime, &["a"])).kind, Kind::Reply);
    }
    // A started program sends its call at any time, so the programs start after the last `ask`.
    for runtime in runtimes {
        parent.send(Kind::ProcessStart, 20 + runtime.get(), &program(runtime, "console.log(await callBinding('a'))"));
    }
    let calls = [parent.receive(), parent.receive()];
    assert_eq!(calls[0].id, calls[1].id);
    for call in &calls {
        let runtime = call.read::<HostCall<'_>>().runtime;
        parent.send(Kind::HostResult, call.id, &ok(runtime, format!("={runtime}").as_bytes()));
    }
    for _ in runtimes {
        let reply = parent.receive();
        assert_eq!(reply.read::<Outcome<'_>>().stdout, format!("{}\n", reply.id - 20).as_bytes());
    }
}

#[test]
fn a_call_of_a_disposed_runtime_is_cancelled_and_its_result_ignored() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    parent.ask(Kind::BindingsSet, 2, &set(runtime, &["a"]));
    parent.send(Kind::ProcessStart, 3, &program(runtime, "await callBinding('a')"));
    let call = parent.receive();
    assert_eq!(call.kind, Kind::HostCall);
    parent.send(Kind::RuntimeDispose, 4, &RuntimeDispose { runtime });
    let received = [parent.receive(), parent.receive(), parent.receive()];
    let cancel = received.iter().find(|received| received.kind == Kind::HostCancel).expect("a cancel");
    assert_eq!((cancel.id, cancel.read::<HostCancel>().runtime), (call.id, runtime));
    parent.send(Kind::HostResult, call.id, &ok(runtime, b"=1"));
    parent.assert_alive();
    assert_eq!(parent.ask(Kind::BindingsSet, 5, &set(runtime, &["a"])).failure().code, "ERR_RUNTIME_DISPOSED");
}

#[test]
fn a_malformed_result_ends_the_connection_and_a_malformed_set_fails() {
    let mut parent = Parent::new(&[]);
    let runtime = parent.runtime();
    let refused = parent.ask(Kind::BindingsSet, 2, &set(runtime, &["a/b"]));
    assert_eq!(refused.failure().code, "ERR_INVALID_REQUEST");
    let refused = parent.ask(Kind::BindingsSet, 3, &set(runtime, &["node"]));
    assert_eq!(refused.failure().code, "EEXIST");
    let refused = parent.ask(Kind::BindingsSet, 4, &Empty {});
    assert_eq!(fact(&refused.failure(), "what"), text("bindings.set.runtime"));
    parent.assert_alive();
    parent.send(Kind::HostResult, 1, &Empty {});
    let (received, status, _) = parent.last_message();
    assert_eq!((received.id, fact(&received.failure(), "what")), (0, text("host.result.runtime")));
    assert_eq!(status.code(), Some(1));
}

#[test]
fn the_sdk_may_not_send_host_calls() {
    let mut parent = Parent::new(&[]);
    let call = HostCall { runtime: runtime(1), pid: Pid::new(1), service: "binding", name: "a", input: b"" };
    assert_eq!(parent.ask(Kind::HostCall, 1, &call).failure().code, "ERR_INVALID_REQUEST");
    parent.assert_alive();
}
