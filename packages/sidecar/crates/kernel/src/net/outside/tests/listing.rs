//! Tests of the list of sockets that `/proc/net` shows, for connections to the outside.

use super::*;
use crate::net::{ListedKind, ListedPlace, ListedSocket, ListedState};

const TCP: ListedKind = ListedKind::Ip { is_v6: false, is_datagram: false };

fn row(table: &Table, state: ListedState, local: SocketAddr, sending: usize) -> ListedSocket {
    let place = ListedPlace::Ip { local, remote: peer() };
    ListedSocket { id: Some(table.socket), state, sending, receiving: 0, place }
}

#[test]
fn a_connection_to_the_outside_is_listed_once_until_it_is_closed() {
    let table = Table::opening();
    let unbound = SocketAddr::from(([0; 4], 0));
    assert_eq!(table.sockets.list(TCP), [row(&table, ListedState::Opening, unbound, 0)]);
    table.event(OutsideEvent::Connected { local: local(), peer: peer() });
    assert_eq!(table.sockets.list(TCP), [row(&table, ListedState::Connected, local(), 0)]);
    let (sent, unsent) = (WINDOW, 1_000);
    let mut written = 0;
    while written < sent + unsent {
        written += table.write(&vec![1; BUFFER.min(sent + unsent - written)]).expect("space");
    }
    assert_eq!(table.sockets.list(TCP), [row(&table, ListedState::Connected, local(), unsent)]);
    table.event(OutsideEvent::End);
    assert_eq!(table.sockets.list(TCP)[0].state, ListedState::Ended);
    table.close(false);
    assert!(table.sockets.list(TCP).is_empty(), "the kernel's end is not listed");
    assert!(table.sockets.count() > 0, "the kernel's end sends the last bytes");
}

#[test]
fn a_session_of_tls_is_not_listed() {
    let table = Table::open();
    let session = table.sockets.with(|state| state.attach_tls(table.socket)).expect("a session");
    assert_eq!(table.sockets.list(TCP), [row(&table, ListedState::Connected, local(), 0)]);
    assert!(table.sockets.close(session, false).is_empty());
}
