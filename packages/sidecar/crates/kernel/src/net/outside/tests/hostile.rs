//! Events that break the rules of a flow.

use super::*;

/// Asserts that the last event has reset the flow.
fn assert_reset(table: &Table, context: &str) {
    let (_, rest) = split(table.outside.take());
    assert_eq!(rest.last(), Some(&Asked::Close(FLOW, true)), "{context}");
    assert_eq!(table.sockets.outside_counts(), (0, 0), "{context}");
    table.drain();
    table.close(false);
    table.assert_empty();
}

#[test]
fn more_bytes_than_the_window_reset_the_flow() {
    for piece in [1, 1_000, BUFFER, WINDOW] {
        let table = Table::open();
        let bytes = vec![1; piece];
        // The program does not read. The kernel returns credit for the bytes in the socket's buffer.
        let allowed = (WINDOW + BUFFER) / piece;
        for _ in 0..allowed {
            table.event(OutsideEvent::Data(&bytes));
        }
        let memory = table.sockets.used_and_highest().1;
        assert!(memory <= (WINDOW + BUFFER) as u64, "{memory}");
        table.event(OutsideEvent::Data(&vec![1; WINDOW + 1]));
        assert_reset(&table, "too many bytes");
    }
}

#[test]
fn events_out_of_order_reset_the_flow() {
    let connected = || OutsideEvent::Connected { local: local(), peer: peer() };
    for (name, event) in [("data", OutsideEvent::Data(b"early")), ("end", OutsideEvent::End), ("credit", OutsideEvent::Credit(1))]
    {
        let table = Table::opening();
        table.event(event);
        assert_eq!(table.error(), Some(Errno::ECONNRESET), "{name}");
        assert_reset(&table, name);
    }
    let table = Table::open();
    table.event(connected());
    assert_reset(&table, "a second connected");
    for event in [OutsideEvent::Data(b"late"), OutsideEvent::End] {
        let table = Table::open();
        table.event(OutsideEvent::End);
        table.event(event);
        assert_reset(&table, "after the end");
    }
}

#[test]
fn events_of_unknown_flows_have_no_effect() {
    let table = Table::open();
    for id in [0, 2, u32::MAX] {
        let events = [
            OutsideEvent::Connected { local: local(), peer: peer() },
            OutsideEvent::Data(b"x"),
            OutsideEvent::Credit(1),
            OutsideEvent::End,
            OutsideEvent::Closed(None),
        ];
        events.into_iter().for_each(|event| table.sockets.outside_event(FlowId::new(id), event));
    }
    assert_eq!((table.outside.take(), table.read()), (vec![], Err(Errno::EAGAIN)));
    assert_eq!(table.sockets.outside_counts(), (1, 0));
}

#[test]
fn an_address_of_the_wrong_family_is_not_shown() {
    let table = Table::opening();
    table.event(OutsideEvent::Connected { local: "[2001:db8::1]:9".parse().expect("an address"), peer: peer() });
    let local = table.sockets.with(|state| Ok(state.network.get(table.socket)?.local.clone()));
    assert_eq!((local, table.write(b"x")), (Ok(None), Ok(1)));
}
