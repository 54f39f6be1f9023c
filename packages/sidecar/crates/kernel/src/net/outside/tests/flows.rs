//! Opening flows, moving bytes with credit, and failures.

use super::*;
use crate::net::address::Address;
use crate::net::socket::{ERR, HUP, IN, OUT};

fn readiness(table: &Table) -> u32 {
    table.sockets.with(|state| Ok(state.network.readiness(state.network.get(table.socket)?))).expect("the socket exists")
}

#[test]
fn a_socket_is_connected_after_the_event_and_shows_both_addresses() {
    let table = Table::opening();
    assert_eq!((readiness(&table), table.write(b"x"), table.read()), (0, Err(Errno::EAGAIN), Err(Errno::ENOTCONN)));
    let again = table.sockets.with(|state| state.connect_outside(table.socket, peer()));
    assert_eq!(again, Err(Errno::EALREADY));
    table.event(OutsideEvent::Connected { local: local(), peer: peer() });
    assert_eq!((readiness(&table), table.error()), (OUT, None));
    let names = table.sockets.with(|state| {
        let socket = state.network.get(table.socket)?;
        let Role::Connected(stream) = &socket.role else { return Err(Errno::ENOTCONN) };
        Ok((socket.local.clone(), stream.remote.clone()))
    });
    let address = |of: SocketAddr| Address::Ip(of.ip(), of.port());
    assert_eq!(names, Ok((Some(address(local())), address(peer()))));
    let again = table.sockets.with(|state| state.connect_outside(table.socket, peer()));
    assert_eq!(again, Err(Errno::EISCONN));
}

#[test]
fn a_session_of_tls_is_open_at_once_and_ends_with_its_socket() {
    let table = Table::open();
    table.outside.take();
    let session = table.sockets.with(|state| state.open_tls()).expect("an implementation is attached");
    let flow = FlowId::new(2);
    assert_eq!(table.outside.take(), [Asked::OpenTls(flow)]);
    assert_eq!(table.sockets.write(session, b"record"), Ok(6));
    assert_eq!(table.outside.take(), [Asked::Write(flow, b"record".to_vec())]);
    table.sockets.outside_event(flow, OutsideEvent::Data(b"reply"));
    let mut reply = [0; 9];
    assert_eq!((table.sockets.read(session, &mut reply), &reply[..5]), (Ok(5), b"reply".as_slice()));
    // A session is never connected, so the event breaks the rules and resets the session.
    table.sockets.outside_event(flow, OutsideEvent::Connected { local: local(), peer: peer() });
    assert_eq!(table.outside.take(), [Asked::Close(flow, true)]);
    assert_eq!(table.sockets.read(session, &mut reply), Err(Errno::ECONNRESET));
}

#[test]
fn a_bound_port_stays_and_a_loopback_address_reaches_nothing_outside() {
    let table = Table::opening();
    let ip = |text: &str, port| Address::Ip(text.parse().expect("an address"), port);
    let [any, loopback] = ["0.0.0.0", "127.0.0.1"].map(|text| {
        let socket = stream(&table.sockets, Domain::V4);
        table.sockets.with(|state| state.network.bind(socket, ip(text, 5_000), false, false)).expect("a free port");
        socket
    });
    let connect = |socket| table.sockets.with(|state| state.connect_outside(socket, peer()));
    assert_eq!((connect(loopback), connect(any)), (Err(Errno::EINVAL), Ok(())));
    table.sockets.outside_event(FlowId::new(2), OutsideEvent::Connected { local: local(), peer: peer() });
    let shown = table.sockets.with(|state| Ok(state.network.get(any)?.local.clone()));
    assert_eq!(shown, Ok(Some(ip("10.0.0.7", 5_000))));
}

#[test]
fn a_connection_fails_with_the_error_of_the_peer() {
    for errno in [Errno::ECONNREFUSED, Errno::ETIMEDOUT, Errno::EHOSTUNREACH, Errno::ENETUNREACH, Errno::ECONNRESET] {
        let table = Table::opening();
        table.event(failed(errno));
        assert_eq!((readiness(&table) & ERR, table.error()), (ERR, Some(errno)));
        // The socket can connect again.
        table.sockets.with(|state| state.connect_outside(table.socket, peer())).expect("a new socket");
        table.close(false);
        assert_eq!(table.outside.take(), [Asked::Connect(FlowId::new(2), peer()), Asked::Close(FlowId::new(2), true)]);
        table.assert_empty();
    }
}

#[test]
fn an_error_number_with_another_meaning_is_a_reset() {
    for errno in [Errno::EAGAIN, Errno::EINPROGRESS, Errno::EPIPE, Errno::ERESTART] {
        let table = Table::opening();
        table.event(failed(errno));
        assert_eq!(table.error(), Some(Errno::ECONNRESET));
        let table = Table::open();
        table.event(failed(errno));
        assert_eq!((table.read(), table.read()), (Err(Errno::ECONNRESET), Ok(vec![])));
    }
}

#[test]
fn a_refusal_has_an_explanation_of_bounded_length() {
    let explain = |kind, message: &str| {
        let table = Table::opening();
        table.event(OutsideEvent::Closed(Some(OutsideFailure { kind, message: message.to_owned() })));
        let error = table.error();
        let text = table.sockets.with(|state| Ok(state.network.get_mut(table.socket)?.explanation.take()));
        (error, text.expect("the socket exists").unwrap_or_default())
    };
    let denied = |reason: &str, rule: Option<&str>| OutsideFailureKind::Denied {
        reason: reason.to_owned(),
        rule: rule.map(str::to_owned),
    };
    let (error, text) = explain(denied("not-allowed", None), "no rule allows 93.184.216.34:443");
    let expected =
        "the permission network.connect is denied by the option network: no rule allows 93.184.216.34:443\0not-allowed";
    assert_eq!((error, &*text), (Some(Errno::EACCES), expected));
    let (_, text) = explain(denied("denied", Some("deny[3]")), "");
    assert_eq!(&*text, "the permission network.connect is denied by the rule network.deny[3]: denied\0denied\0deny[3]");
    let limit = OutsideFailureKind::Limit { name: "connections".to_owned() };
    let (error, text) = explain(limit, "256 connections are open");
    let expected = "the limit network.limits.connections is reached: 256 connections are open\0limit";
    assert_eq!((error, &*text), (Some(Errno::ENOBUFS), expected));
    let (_, text) = explain(denied(&"r\0\n".repeat(5_000), Some(&"é".repeat(5_000))), &"m\r\n".repeat(9_000));
    assert!(text.len() <= 1_024, "{}", text.len());
    assert_eq!(text.matches('\0').count(), 2, "the texts themselves have no NUL");
    assert!(!text.contains('\n'));
}

#[test]
fn moves_bytes_in_both_directions_and_ends_each_alone() {
    let table = Table::open();
    assert_eq!(table.write(b"question"), Ok(8));
    table.event(OutsideEvent::Data(b"answer"));
    assert_eq!(table.read().as_deref(), Ok(&b"answer"[..]));
    table.shutdown().expect("connected");
    assert_eq!(split(table.outside.take()), (b"question".to_vec(), vec![Asked::End(FLOW)]));
    table.event(OutsideEvent::Data(b" and more"));
    table.event(OutsideEvent::End);
    assert_eq!(table.outside.take(), [Asked::Close(FLOW, false)]);
    assert_eq!((table.read().as_deref(), table.read()), (Ok(&b" and more"[..]), Ok(vec![])));
    assert_ne!(readiness(&table) & HUP, 0);
    table.close(false);
    table.assert_empty();
}

#[test]
fn a_program_that_writes_stops_at_the_window_and_the_buffer() {
    let table = Table::open();
    let block = vec![1; 50_000];
    let mut written = 0;
    while let Ok(count) = table.write(&block) {
        written += count;
    }
    assert_eq!(written, WINDOW + BUFFER);
    assert_eq!(split(table.outside.take()).0.len(), WINDOW);
    table.event(OutsideEvent::Credit(10));
    assert_eq!(split(table.outside.take()).0.len(), 10);
    table.event(OutsideEvent::Credit(u64::MAX));
    assert_eq!(split(table.outside.take()).0.len(), BUFFER - 10);
    assert_eq!(table.write(b"more"), Ok(4));
}

#[test]
fn the_end_of_a_direction_needs_no_credit() {
    let table = Table::open();
    let block = vec![1; WINDOW / 4];
    (0..4).for_each(|_| assert_eq!(table.write(&block), Ok(block.len())));
    assert_eq!(split(table.outside.take()).0.len(), WINDOW);
    table.shutdown().expect("connected");
    assert_eq!(table.outside.take(), [Asked::End(FLOW)]);
}

#[test]
fn a_slow_reader_receives_everything_and_credit_follows_a_quarter_of_the_window() {
    let table = Table::open();
    let piece = vec![7; BUFFER];
    (0..4).for_each(|_| table.event(OutsideEvent::Data(&piece)));
    // The socket has accepted a quarter of the window.
    assert_eq!(table.outside.take(), [Asked::Credit(FLOW, BUFFER as u64)]);
    assert_eq!(table.sockets.used_and_highest().1, WINDOW as u64);
    table.event(OutsideEvent::End);
    assert_eq!((table.drain(), table.read()), (WINDOW, Ok(vec![])));
    assert_eq!(table.outside.take(), [const { Asked::Credit(FLOW, BUFFER as u64) }; 3]);
    assert_eq!(readiness(&table) & IN, IN, "the end of the stream");
}

#[test]
fn received_bytes_can_be_read_after_a_reset_and_writes_fail_at_once() {
    let table = Table::open();
    let piece = vec![7; BUFFER];
    (0..3).for_each(|_| table.event(OutsideEvent::Data(&piece)));
    table.event(failed(Errno::ETIMEDOUT));
    assert_eq!((table.write(b"x"), table.write(b"x")), (Err(Errno::ETIMEDOUT), Err(Errno::EPIPE)));
    assert_eq!((table.drain(), table.read()), (3 * BUFFER, Ok(vec![])));
    table.close(false);
    let (_, rest) = split(table.outside.take());
    assert!(rest.iter().all(|asked| matches!(asked, Asked::Credit(..))), "the flow had ended: {rest:?}");
    table.assert_empty();
}

#[test]
fn a_connection_counts_as_one_socket_also_after_the_program_has_closed_its_end() {
    let table = Table::open();
    let used = || table.sockets.used_and_highest().0[0].0;
    assert_eq!((used(), table.sockets.count()), (1, 2));
    let block = vec![1; BUFFER];
    while table.write(&block).is_ok() {}
    table.close(false);
    assert_eq!((used(), table.sockets.count()), (1, 1), "bytes without credit are left");
    table.outside.take();
    table.event(OutsideEvent::Credit(WINDOW as u64));
    let (written, rest) = split(table.outside.take());
    assert_eq!((written.len(), rest), (BUFFER, vec![Asked::End(FLOW), Asked::Close(FLOW, false)]));
    table.assert_empty();
}

#[test]
fn the_end_of_the_implementation_resets_all_flows() {
    let table = Table::open();
    let waiting = stream(&table.sockets, Domain::V6);
    table.sockets.with(|state| state.connect_outside(waiting, peer())).expect("a new socket");
    table.outside.take();
    table.sockets.set_outside(None);
    assert_eq!(table.outside.take(), [Asked::Close(FLOW, true), Asked::Close(FlowId::new(2), true)]);
    assert_eq!(table.read(), Err(Errno::ECONNRESET));
    let error = table.sockets.with(|state| Ok(state.network.get_mut(waiting)?.error.take()));
    assert_eq!(error, Ok(Some(Errno::ECONNRESET)));
    let refused = table.sockets.with(|state| state.connect_outside(waiting, peer()));
    assert_eq!(refused, Err(Errno::EACCES));
}

#[test]
fn a_kernel_that_replaces_another_continues_the_numbers() {
    let before = Table::open();
    let after = Sockets::default();
    after.take_over_outside(&before.sockets);
    assert_eq!((before.outside.take(), before.sockets.has_outside()), (vec![Asked::Close(FLOW, true)], false));
    let socket = stream(&after, Domain::V4);
    after.with(|state| state.connect_outside(socket, peer())).expect("a new socket");
    assert_eq!(before.outside.take(), [Asked::Connect(FlowId::new(2), peer())]);
    // A late event of the replaced kernel has no effect.
    after.outside_event(FLOW, OutsideEvent::Connected { local: local(), peer: peer() });
    assert_eq!((after.outside_counts(), before.outside.take()), ((1, 0), vec![]));
}

#[test]
fn an_attached_session_keeps_its_connection_open_after_both_ends() {
    let table = Table::open();
    table.outside.take();
    assert_eq!(table.write(b"STARTTLS"), Ok(8));
    table.event(OutsideEvent::Data(b"early"));
    let session = table.sockets.with(|state| state.attach_tls(table.socket)).expect("an open connection");
    let flow = FlowId::new(2);
    assert_eq!(table.outside.take(), [Asked::Write(FLOW, b"STARTTLS".to_vec()), Asked::AttachTls(flow, FLOW)]);
    let again = table.sockets.with(|state| state.attach_tls(table.socket));
    assert_eq!(again, Err(Errno::EALREADY));
    let nested = table.sockets.with(|state| state.attach_tls(session));
    assert_eq!(nested, Err(Errno::ENOTCONN));
    // The hand-over: both directions of the connection end, after the bytes in flight.
    table.event(OutsideEvent::End);
    assert_eq!(table.shutdown(), Ok(()));
    assert_eq!((table.read(), table.read()), (Ok(b"early".to_vec()), Ok(Vec::new())));
    assert_eq!(table.outside.take(), [Asked::End(FLOW)]);
    table.sockets.outside_event(flow, OutsideEvent::Data(b"record"));
    let mut bytes = [0; 9];
    assert_eq!(table.sockets.read(session, &mut bytes), Ok(6));
    // The connection ends with the program's socket.
    table.close(false);
    assert_eq!(table.outside.take(), [Asked::Close(FLOW, false)]);
    let denied = OutsideFailureKind::Denied { reason: "sni".to_owned(), rule: None };
    let failure = OutsideFailure { kind: denied, message: String::new() };
    table.sockets.outside_event(flow, OutsideEvent::Closed(Some(failure)));
    assert_eq!(table.sockets.read(session, &mut bytes), Err(Errno::EACCES));
    let explained = table.sockets.with(|state| Ok(state.network.get_mut(session)?.explanation.take()));
    assert!(explained.is_ok_and(|text| text.is_some_and(|text| text.contains("sni"))));
}

#[test]
fn a_session_is_attached_only_to_an_open_connection() {
    let table = Table::opening();
    let attach = |table: &Table, socket| table.sockets.with(|state| state.attach_tls(socket));
    assert_eq!(attach(&table, table.socket), Err(Errno::ENOTCONN), "opening");
    let table = Table::open();
    assert_eq!(table.shutdown(), Ok(()));
    assert_eq!(attach(&table, table.socket), Err(Errno::ENOTCONN), "ended by the program");
    let table = Table::open();
    table.event(OutsideEvent::Closed(None));
    assert_eq!(attach(&table, table.socket), Err(Errno::ENOTCONN), "ended outside");
    let local = stream(&table.sockets, Domain::V4);
    assert_eq!(attach(&table, local), Err(Errno::ENOTCONN), "not connected");
}
