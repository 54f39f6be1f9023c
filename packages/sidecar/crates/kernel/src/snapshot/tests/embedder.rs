//! Tests of the embedder's state, which is not part of a snapshot: a restore completes the
//! operations that wait for the embedder.

use super::*;
use crate::embedder::{BindingOptions, Embedder, HostCall};
use crate::net::inbound::{NetworkEvent, Target};
use crate::permissions::policy::{PermissionPolicy, ScopePolicy, Verdict};
use crate::text::variables;
use coldframe_abi::system_calls::{BindingCall, SocketCall};
use coldframe_error::Error;
use coldframe_ids::{ConnectionId, HostCallId};
use coldframe_panics::runtime::Mutex;

/// An embedder that records the host calls and the events of connections.
#[derive(Default)]
struct RecordingEmbedder {
    calls: Mutex<Vec<HostCallId>>,
    events: Mutex<Vec<(ConnectionId, NetworkEvent)>>,
}

impl Embedder for RecordingEmbedder {
    fn call(&self, call: HostCall) {
        self.calls.lock().push(call.number);
    }
    fn cancel(&self, _id: HostCallId) {}
    fn network(&self, id: ConnectionId, event: NetworkEvent) {
        self.events.lock().push((id, event));
    }
}

fn attached(world: &TestKernel) -> Arc<RecordingEmbedder> {
    let embedder = Arc::new(RecordingEmbedder::default());
    world.kernel.sockets.attach(embedder.clone());
    world.kernel.host_calls.attach(embedder.clone());
    embedder
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
fn resets_inbound_connections_and_keeps_listeners() {
    let world = TestKernel::new(1);
    let embedder = attached(&world);
    let guest = &world.guests[0];
    let server = guest.ok(SocketCall::Socket, &[2.into(), 1.into()]);
    guest.ok(SocketCall::Bind, &[server.into(), "127.0.0.1".into(), 80.into()]);
    guest.ok(SocketCall::Listen, &[server.into(), 5.into()]);
    for id in [1, 2].map(ConnectionId::new) {
        world.kernel.connect_inbound(id, &port()).expect("a listener");
    }
    let accepted = guest.ok(SocketCall::Accept, &[server.into()]);
    world.kernel.sockets.inbound_write(ConnectionId::new(1), b"unread", false);
    assert_eq!(guest.read(accepted).expect("bytes"), b"unread");
    let armed = guest.ok(SocketCall::Arm, &[accepted.into(), 1.into()]);
    let copy = world.copy();
    let completed = copy.guests[0].events();
    assert_eq!(completed.len(), 1);
    assert_eq!(completed[0].operation.answer(), armed);
    assert_eq!(copy.guests[0].read(accepted), Err(Errno::ECONNRESET));
    assert_eq!(copy.guests[0].write(accepted, b"x"), Err(Errno::EPIPE));
    // The second connection was in the queue of the listener. The restored program accepts the
    // connection, which is already reset.
    let second = copy.guests[0].ok(SocketCall::Accept, &[server.into()]);
    assert_eq!(copy.guests[0].read(second), Err(Errno::ECONNRESET));
    assert_eq!(copy.kernel.listeners().len(), 1);
    let here = attached(&copy);
    copy.kernel.connect_inbound(ConnectionId::new(1), &port()).expect("the listener of the copy");
    assert_eq!(here.events.lock().len(), 0);
    // The connection in the original runtime continues.
    guest.write(accepted, b"y").expect("room");
    assert!(embedder.events.lock().contains(&(ConnectionId::new(1), NetworkEvent::Data(b"y".to_vec()))));
}

#[test]
fn delivers_a_reply_only_to_the_original() {
    let world = TestKernel::new(1);
    let embedder = attached(&world);
    world.kernel.set_bindings(binding("a")).expect("a free name");
    let operation = ask(&world.guests[0], "a").expect("the binding exists");
    let copy = world.copy();
    let events = copy.guests[0].events();
    assert_eq!((events[0].operation.answer(), events[0].result), (operation, -125));
    assert_eq!(events[0].bytes, super::super::UNANSWERED);
    let number = embedder.calls.lock()[0];
    world.kernel.answer(number, Ok(b"=1".to_vec()));
    assert_eq!(world.guests[0].events()[0].bytes, b"=1");
}

#[test]
fn a_restored_binding_needs_its_function_again_and_keeps_its_command() {
    let world = TestKernel::new(1);
    world.kernel.set_bindings(binding("a")).expect("a free name");
    let copy = world.copy();
    attached(&copy);
    assert_eq!(ask(&copy.guests[0], "a"), Err(Errno::ENOENT));
    assert!(copy.kernel.embedder_files().read("/usr/local/bin/a", 0, 1).is_ok());
    copy.kernel.set_bindings(binding("a")).expect("the restored name");
    assert!(ask(&copy.guests[0], "a").is_ok());
    copy.kernel.set_bindings(binding("b")).expect("a free name");
    assert!(copy.kernel.embedder_files().read("/usr/local/bin/a", 0, 1).is_err());
}

#[test]
fn a_replacing_kernel_takes_over_the_embedder_and_continues_its_numbers() {
    let world = TestKernel::new(1);
    let embedder = attached(&world);
    world.kernel.set_bindings(binding("a")).expect("a free name");
    let deny = PermissionPolicy { env: Some(ScopePolicy::always(Verdict::Deny)), ..PermissionPolicy::default() };
    let saved = world.snapshot();
    ask(&world.guests[0], "a").expect("the binding exists");
    world.kernel.set_bindings(binding("b")).expect("a free name");
    world.kernel.permissions.set(&deny).expect("a valid policy");
    world.kernel.await_listener(ConnectionId::new(9), &port()).expect("room");
    let copy = TestKernel::restore(&saved);
    copy.kernel.take_over_bindings(&world.kernel).expect("no name is taken");
    copy.kernel.take_over(&world.kernel, &Error::Canceled);
    assert_eq!(*embedder.events.lock(), [(ConnectionId::new(9), NetworkEvent::Listener(Err(Error::Canceled)))]);
    assert_eq!(ask(&copy.guests[0], "a"), Err(Errno::ENOENT));
    let operation = ask(&copy.guests[0], "b").expect("the binding exists");
    let [first, second] = embedder.calls.lock()[..] else { panic!("two calls") };
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
fn a_policy_is_kept_unless_the_embedder_passes_another() {
    let world = TestKernel::new(1);
    let deny = |scope| PermissionPolicy { env: scope, ..PermissionPolicy::default() };
    let policy = deny(Some(ScopePolicy::always(Verdict::Deny)));
    world.kernel.permissions.set(&policy).expect("a valid policy");
    let saved = world.snapshot();
    let with = |permissions| RestoreInputs {
        limits: Limits::default(),
        permissions,
        mounts: &[],
        file_systems: &[],
        library: Library::missing(),
        warnings: None,
    };
    let of = |permissions| {
        let restored = Kernel::restore(&saved, with(permissions)).expect("nothing is missing");
        let mut env = variables(&[("A", "")]);
        restored.kernel.permissions.filter_env(None, &mut env, None);
        (PermissionPolicy::from(restored.kernel.permissions.snapshot()), env.len())
    };
    assert_eq!(of(None), (policy, 0));
    assert_eq!(of(Some(&PermissionPolicy::default())), (PermissionPolicy::default(), 1));
}
