//! What hangs on the caller outside: it is no part of the value, and whoever waited for it hears so.

use super::*;
use crate::embedder::{BindingOptions, Embedder, HostCall};
use crate::net::inbound::{NetworkEvent, Target};
use crate::permissions::policy::{PermissionPolicy, ScopePolicy, Verdict};
use coldframe_abi::system_calls::{BindingCall, SocketCall};
use coldframe_error::Error;
use coldframe_ids::{ConnectionId, HostCallId};
use parking_lot::Mutex;

/// A caller that remembers what it was asked and told.
#[derive(Default)]
struct Caller {
    calls: Mutex<Vec<HostCallId>>,
    told: Mutex<Vec<(ConnectionId, NetworkEvent)>>,
}

impl Embedder for Caller {
    fn call(&self, call: HostCall) {
        self.calls.lock().push(call.number);
    }
    fn cancel(&self, _id: HostCallId) {}
    fn network(&self, id: ConnectionId, event: NetworkEvent) {
        self.told.lock().push((id, event));
    }
}

fn attached(world: &World) -> Arc<Caller> {
    let caller = Arc::new(Caller::default());
    world.kernel.sockets.attach(caller.clone());
    world.kernel.host_calls.attach(caller.clone());
    caller
}

fn binding(name: &str) -> Vec<BindingOptions> {
    vec![BindingOptions { name: name.to_owned(), commands: vec![name.to_owned()], input_bytes: 100 }]
}

fn ask(guest: &Guest, name: &str) -> Result<i64, Errno> {
    guest.sys(BindingCall::Call, &[name.into(), "{}".into()]).0
}

fn port() -> Target {
    Target::Port { port: 80, host: None }
}

#[test]
fn connections_from_outside_are_reset_and_listeners_stay() {
    let world = World::new(1);
    let caller = attached(&world);
    let guest = &world.guests[0];
    let server = guest.ok(SocketCall::Socket, &[2.into(), 1.into()]);
    guest.ok(SocketCall::Bind, &[server.into(), "127.0.0.1".into(), 80.into()]);
    guest.ok(SocketCall::Listen, &[server.into(), 5.into()]);
    for id in [1, 2].map(ConnectionId::new) {
        world.kernel.connect_inbound(id, &port()).expect("somebody listens");
    }
    let accepted = guest.ok(SocketCall::Accept, &[server.into()]);
    world.kernel.sockets.inbound_write(ConnectionId::new(1), b"unread", false);
    assert_eq!(guest.read(accepted).expect("there"), b"unread");
    let armed = guest.ok(SocketCall::Arm, &[accepted.into(), 1.into()]);
    let copy = world.copy();
    let heard = copy.guests[0].events();
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].operation.answer(), armed);
    assert_eq!(copy.guests[0].read(accepted), Err(Errno::ECONNRESET));
    assert_eq!(copy.guests[0].write(accepted, b"x"), Err(Errno::EPIPE));
    // The second was not accepted yet: it is, and has been reset.
    let second = copy.guests[0].ok(SocketCall::Accept, &[server.into()]);
    assert_eq!(copy.guests[0].read(second), Err(Errno::ECONNRESET));
    assert_eq!(copy.kernel.listeners().len(), 1);
    let here = attached(&copy);
    copy.kernel.connect_inbound(ConnectionId::new(1), &port()).expect("it listens here too");
    assert_eq!(here.told.lock().len(), 0);
    // The original's goes on.
    guest.write(accepted, b"y").expect("room");
    assert!(caller.told.lock().contains(&(ConnectionId::new(1), NetworkEvent::Data(b"y".to_vec()))));
}

#[test]
fn a_call_under_way_is_answered_in_the_original_only() {
    let world = World::new(1);
    let caller = attached(&world);
    world.kernel.set_bindings(binding("a")).expect("a free name");
    let operation = ask(&world.guests[0], "a").expect("it is there");
    let copy = world.copy();
    let events = copy.guests[0].events();
    assert_eq!((events[0].operation.answer(), events[0].result), (operation, -125));
    assert_eq!(events[0].bytes, super::super::UNANSWERED);
    let number = caller.calls.lock()[0];
    world.kernel.answer(number, Ok(b"=1".to_vec()));
    assert_eq!(world.guests[0].events()[0].bytes, b"=1");
}

#[test]
fn a_function_must_be_handed_over_anew_and_its_command_stays() {
    let world = World::new(1);
    world.kernel.set_bindings(binding("a")).expect("a free name");
    let copy = world.copy();
    attached(&copy);
    assert_eq!(ask(&copy.guests[0], "a"), Err(Errno::ENOENT));
    assert!(copy.kernel.embedder_files().read("/usr/local/bin/a", 0, 1).is_ok());
    copy.kernel.set_bindings(binding("a")).expect("its own name");
    assert!(ask(&copy.guests[0], "a").is_ok());
    copy.kernel.set_bindings(binding("b")).expect("a free name");
    assert!(copy.kernel.embedder_files().read("/usr/local/bin/a", 0, 1).is_err());
}

#[test]
fn who_takes_a_kernels_place_has_its_caller_and_its_numbers_go_on() {
    let world = World::new(1);
    let caller = attached(&world);
    world.kernel.set_bindings(binding("a")).expect("a free name");
    let deny = PermissionPolicy { env: Some(ScopePolicy::always(Verdict::Deny)), ..PermissionPolicy::default() };
    let saved = world.snapshot();
    ask(&world.guests[0], "a").expect("it is there");
    world.kernel.set_bindings(binding("b")).expect("a free name");
    world.kernel.permissions.set(&deny).expect("no mistake");
    world.kernel.await_listener(ConnectionId::new(9), &port()).expect("room");
    let copy = World::restore(&saved);
    copy.kernel.take_over(&world.kernel, &Error::Canceled).expect("no name is taken");
    assert_eq!(*caller.told.lock(), [(ConnectionId::new(9), NetworkEvent::Listener(Err(Error::Canceled)))]);
    assert_eq!(ask(&copy.guests[0], "a"), Err(Errno::ENOENT));
    let operation = ask(&copy.guests[0], "b").expect("it is there");
    let [first, second] = caller.calls.lock()[..] else { panic!("two calls") };
    copy.kernel.answer(first, Ok(b"late".to_vec()));
    assert_eq!(copy.guests[0].events(), []);
    copy.kernel.answer(second, Ok(b"=2".to_vec()));
    assert_eq!(
        copy.guests[0].events()[0],
        Event { operation: crate::testing::operation(operation as u32), result: 0, bytes: b"=2".to_vec() }
    );
    assert_eq!(PermissionPolicy::from(copy.kernel.permissions.snapshot()), deny);
}

#[test]
fn a_policy_stays_unless_the_caller_brings_another() {
    let world = World::new(1);
    let deny = |scope| PermissionPolicy { env: scope, ..PermissionPolicy::default() };
    let policy = deny(Some(ScopePolicy::always(Verdict::Deny)));
    world.kernel.permissions.set(&policy).expect("no mistake");
    let saved = world.snapshot();
    let with = |permissions| Reattach { limits: Limits::default(), permissions, mounts: &[], file_systems: &[], warnings: None };
    let of = |permissions| {
        let restored = Kernel::restore(&saved, with(permissions)).expect("nothing is missing");
        let mut env = vec![("A".to_owned(), String::new())];
        restored.kernel.permissions.filter_env(None, &mut env, None);
        (PermissionPolicy::from(restored.kernel.permissions.snapshot()), env.len())
    };
    assert_eq!(of(None), (policy, 0));
    assert_eq!(of(Some(&PermissionPolicy::default())), (PermissionPolicy::default(), 1));
}
