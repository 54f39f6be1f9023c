//! Tests of host calls of programs to bindings. The test is the embedder.

use super::{STEP_TIMEOUT, code, core, exec, exited, outcome, runtime, start, text};
use crate::{BindingOptions, Dispatch, Embedder, HostCall, HostFailure, Runtime};
use coldframe_error::Error;
use coldframe_ids::HostCallId;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, mpsc::RecvTimeoutError};
use std::time::Duration;

#[derive(Debug, PartialEq, Eq)]
enum EmbedderEvent {
    Call(HostCall),
    Cancel(HostCallId),
}

struct TestEmbedder(Mutex<Sender<EmbedderEvent>>);

impl Embedder for TestEmbedder {
    fn call(&self, call: HostCall) {
        let _ = self.0.lock().expect("no panic").send(EmbedderEvent::Call(call));
    }
    fn cancel(&self, id: HostCallId) {
        let _ = self.0.lock().expect("no panic").send(EmbedderEvent::Cancel(id));
    }
}

fn listen(runtime: &Runtime, names: &[&str]) -> Receiver<EmbedderEvent> {
    let (sender, host_calls) = channel();
    runtime.attach(Arc::new(TestEmbedder(Mutex::new(sender))));
    let binding = |name: &&str| BindingOptions { name: (*name).to_owned(), commands: vec![], input_bytes: 100 };
    runtime.set_bindings(names.iter().map(binding).collect()).expect("free names");
    host_calls
}

fn call(host_calls: &Receiver<EmbedderEvent>) -> HostCall {
    match host_calls.recv_timeout(STEP_TIMEOUT).expect("a call") {
        EmbedderEvent::Call(call) => call,
        EmbedderEvent::Cancel(number) => panic!("{number} is cancelled"),
    }
}

#[test]
fn replies_reach_their_calls_in_any_order_and_forged_replies_are_refused() {
    let core = core();
    let runtime = runtime(&core);
    let host_calls = listen(&runtime, &["a"]);
    let program = "console.log(await Promise.all([1, 2, 3].map((n) => callBinding('a', n).catch((e) => e.code + e.message))))";
    let (process, events) = start(&runtime, exec(program), Dispatch::Worker);
    let calls = [call(&host_calls), call(&host_calls), call(&host_calls)];
    assert_eq!(calls.each_ref().map(|call| text(&call.input)), ["1", "2", "3"]);
    assert!(calls.iter().all(|call| (call.service, &*call.name, call.pid) == ("binding", "a", process.pid())));
    for forged in [0, calls[2].number.get() + 1, u32::MAX] {
        runtime.answer(HostCallId::new(forged), Ok(b"=\"forged\"".to_vec()));
    }
    runtime.answer(calls[2].number, Ok(b"={\"x\":3}".to_vec()));
    runtime.answer(calls[2].number, Ok(b"=\"twice\"".to_vec()));
    runtime.answer(calls[1].number, Err(HostFailure { code: "EACCES".to_owned(), message: "no".to_owned() }));
    runtime.answer(calls[0].number, Ok(b"!{\"name\":\"Error\",\"message\":\"m\",\"code\":\"C\"}".to_vec()));
    let outcome = exited(&events);
    let lines = ["[", "  'Cm',", "  \"EACCESEACCES: permission denied, binding.call 'a' (no)\",", "  { x: 3 }", "]", ""];
    assert_eq!(text(&outcome.stdout), lines.join("\n"));
    assert_eq!(runtime.inner().host_calls(), (0, 0));
}

#[test]
fn a_malformed_reply_rejects_the_call() {
    let core = core();
    let runtime = runtime(&core);
    let host_calls = listen(&runtime, &["a"]);
    let (_, events) = start(&runtime, exec("await callBinding('a').catch((e) => console.log(e.name))"), Dispatch::Worker);
    runtime.answer(call(&host_calls).number, Ok(b"\xff\0{".to_vec()));
    assert_eq!(text(&exited(&events).stdout), "SyntaxError\n");
}

#[test]
fn an_unknown_binding_or_too_much_input_fails_inside_the_guest() {
    let core = core();
    let runtime = runtime(&core);
    let code_of = |name: &str, input: &str| {
        let program = format!("await callBinding({name}, {input}).catch((e) => console.log(e.code))");
        text(&outcome(&runtime, exec(&program)).stdout)
    };
    assert_eq!(code_of("'a'", "1"), "ERR_BINDING_NOT_FOUND\n");
    let host_calls = listen(&runtime, &["a"]);
    assert_eq!(code_of("'b'", "1"), "ERR_BINDING_NOT_FOUND\n");
    assert_eq!(code_of("'__proto__'", "1"), "ERR_BINDING_NOT_FOUND\n");
    assert_eq!(code_of("'a\\0'", "1"), "ERR_BINDING_NOT_FOUND\n");
    assert_eq!(code_of("7", "1"), "ERR_INVALID_ARG_TYPE\n");
    assert_eq!(code_of("'a'", "'x'.repeat(99)"), "ERR_BINDING_INPUT\n");
    assert_eq!(code_of("'a'", "() => {}"), "ERR_INVALID_ARG_VALUE\n");
    assert_eq!(host_calls.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
}

#[test]
fn calls_of_an_ended_program_are_cancelled_and_count_until_their_replies() {
    let core = core();
    let runtime = runtime(&core);
    let host_calls = listen(&runtime, &["a"]);
    let outcome = outcome(&runtime, exec("callBinding('a', 'xy'); setTimeout(() => process.exit(3), 1)"));
    assert_eq!(outcome.exit_code, 3);
    let number = call(&host_calls).number;
    assert_eq!(host_calls.recv_timeout(STEP_TIMEOUT), Ok(EmbedderEvent::Cancel(number)));
    assert_eq!(runtime.inner().host_calls(), (1, 5));
    runtime.answer(number, Ok(b"=1".to_vec()));
    assert_eq!(runtime.inner().host_calls(), (0, 0));
}

#[test]
fn an_abandoned_call_is_cancelled_once_and_its_reply_is_dropped() {
    let core = core();
    let runtime = runtime(&core);
    let host_calls = listen(&runtime, &["a"]);
    let program = "const c = new AbortController(); const p = callBinding('a', 1, c); c.abort(new Error('mine')); c.abort();
        await p.catch((e) => console.log(e.message)); await callBinding('a', 2).then(console.log)";
    let (_, events) = start(&runtime, exec(program), Dispatch::Worker);
    let first = call(&host_calls).number;
    assert_eq!(host_calls.recv_timeout(STEP_TIMEOUT), Ok(EmbedderEvent::Cancel(first)));
    runtime.answer(first, Ok(b"=\"late\"".to_vec()));
    runtime.answer(call(&host_calls).number, Ok(b"=\"second\"".to_vec()));
    assert_eq!(text(&exited(&events).stdout), "mine\nsecond\n");
    assert_eq!(host_calls.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout));
}

#[test]
fn a_program_that_waits_for_a_reply_can_be_killed_and_its_runtime_disposed() {
    let core = core();
    let runtime = runtime(&core);
    let host_calls = listen(&runtime, &["a"]);
    let (process, events) = start(&runtime, exec("await callBinding('a', 1)"), Dispatch::Worker);
    let first = call(&host_calls).number;
    process.cancel();
    assert_eq!(code(&exited(&events)), Some("ERR_CANCELED"));
    assert_eq!(host_calls.recv_timeout(STEP_TIMEOUT), Ok(EmbedderEvent::Cancel(first)));
    let (_, events) = start(&runtime, exec("await callBinding('a', 1)"), Dispatch::Worker);
    let second = call(&host_calls).number;
    runtime.dispose();
    assert_eq!(exited(&events).failure, Some(Error::RuntimeDisposed));
    assert_eq!(host_calls.recv_timeout(STEP_TIMEOUT), Ok(EmbedderEvent::Cancel(second)));
}

#[test]
fn a_loop_of_abandoned_calls_reaches_the_limit() {
    let core = core();
    let runtime = runtime(&core);
    let host_calls = listen(&runtime, &["a"]);
    let program = "let n = 0; for (;;) { const c = new AbortController(); const p = callBinding('a', 1, c); let code;
        p.catch((e) => { code = e.code; }); await null; await null;
        if (code !== undefined) { console.log(n, code); break; } c.abort(); n++; }";
    assert_eq!(text(&outcome(&runtime, exec(program)).stdout), "1024 ERR_BINDING_LIMIT\n");
    assert_eq!(host_calls.try_iter().count(), 2_048);
}
