//! The texts of `/proc/net` about the runtime's sockets, in Linux's format. A connection that no
//! program has accepted has the inode 0 and the user 0, as on Linux. The number of a socket is its
//! inode, which the links under `fd` show too. Next: `links.rs`.

use super::{Proc, owner_of};
use crate::caller::Caller;
use crate::descriptors::Target;
use crate::ids::SocketId;
use crate::net::{ListedKind, ListedPlace, ListedSocket, ListedState};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};

pub(super) const FILES: &[(&str, ListedKind)] = &[
    ("tcp", ListedKind::Ip { is_v6: false, is_datagram: false }),
    ("tcp6", ListedKind::Ip { is_v6: true, is_datagram: false }),
    ("udp", ListedKind::Ip { is_v6: false, is_datagram: true }),
    ("udp6", ListedKind::Ip { is_v6: true, is_datagram: true }),
    ("unix", ListedKind::Unix),
];

const COLUMNS: &str = "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const COLUMNS_OF_DATAGRAMS: &str = " ref pointer drops";
/// The widths to which Linux pads the lines of `tcp` and `udp`.
const TCP_WIDTH: usize = 149;
const UDP_WIDTH: usize = 127;
/// A pointer of the kernel, as Linux shows it to programs without privileges.
const HIDDEN_POINTER: &str = "0000000000000000";

/// Returns the text of a file of `/proc/net` for the runtime of `program`.
pub(super) fn text(proc: &Proc, kind: ListedKind, program: &dyn Caller) -> Vec<u8> {
    let sockets = program.process().kernel.sockets.list(kind);
    let ListedKind::Ip { is_v6, is_datagram } = kind else { return of_unix(&sockets) };
    let users = if sockets.is_empty() { HashMap::new() } else { proc.users_of_sockets() };
    let width = if is_v6 { 0 } else { [TCP_WIDTH, UDP_WIDTH][usize::from(is_datagram)] };
    let mut text = format!("{:<width$}\n", header(is_v6, is_datagram));
    for (number, socket) in sockets.iter().enumerate() {
        let ListedPlace::Ip { local, remote } = &socket.place else { continue };
        let start = text.len();
        let _ = if is_datagram { write!(text, "{number:5}: ") } else { write!(text, "{number:4}: ") };
        write_address(&mut text, local);
        write_address(&mut text, remote);
        let (state, sending, receiving) = (socket.state as u8, socket.sending, socket.receiving);
        let uid = socket.id.and_then(|id| users.get(&id)).copied().unwrap_or(0);
        let inode = socket.id.map_or(0, SocketId::get);
        let (references, rest) = match socket.state {
            _ if is_datagram => (2, "0"),
            ListedState::Listening => (1, "100 0 0 10 0"),
            _ => (1, "20 4 30 10 -1"),
        };
        let _ = write!(text, "{state:02X} {sending:08X}:{receiving:08X} 00:00000000 00000000 {uid:5}        0 {inode} ");
        let _ = write!(text, "{references} {HIDDEN_POINTER} {rest}");
        let padding = width.saturating_sub(text.len() - start);
        let _ = writeln!(text, "{:padding$}", "");
    }
    text.into_bytes()
}

fn header(is_v6: bool, is_datagram: bool) -> String {
    let more = if is_datagram { COLUMNS_OF_DATAGRAMS } else { "" };
    if is_v6 {
        return format!("  sl  {:<38}{:<38}{COLUMNS}{more}", "local_address", "remote_address");
    }
    let first = if is_datagram { "   sl" } else { "  sl" };
    format!("{first}  local_address rem_address   {COLUMNS}{more}")
}

/// Writes an address as Linux does, and a space: the words of the address in the order of a
/// little-endian machine, then the port.
fn write_address(text: &mut String, address: &SocketAddr) {
    let mut word = |bytes: [u8; 4]| {
        let _ = write!(text, "{:08X}", u32::from_le_bytes(bytes));
    };
    match address.ip() {
        IpAddr::V4(ip) => word(ip.octets()),
        IpAddr::V6(ip) => ip.octets().as_chunks().0.iter().copied().for_each(word),
    }
    let _ = write!(text, ":{:04X} ", address.port());
}

fn of_unix(sockets: &[ListedSocket]) -> Vec<u8> {
    let mut text = b"Num       RefCount Protocol Flags    Type St Inode Path\n".to_vec();
    for socket in sockets {
        let ListedPlace::Unix(name) = &socket.place else { continue };
        let (references, flags, state) = match socket.state {
            ListedState::Listening => (2, 0x1_0000, 1),
            ListedState::Opening => (2, 0, 2),
            ListedState::Unconnected => (2, 0, 1),
            ListedState::Connected | ListedState::Shut | ListedState::Ended => (3, 0, 3),
        };
        let inode = socket.id.map_or(0, SocketId::get);
        let _ = write!(text, "{HIDDEN_POINTER}: {references:08X} 00000000 {flags:08X} 0001 {state:02X} {inode:5}");
        if !name.is_empty() {
            text.push(b' ');
            // The name of an abstract socket begins with NUL.
            text.extend(name.iter().map(|byte| if *byte == 0 { b'@' } else { *byte }));
        }
        text.push(b'\n');
    }
    text
}

impl Proc {
    /// Returns the user of the first process that has each socket.
    fn users_of_sockets(&self) -> HashMap<SocketId, u32> {
        let mut users = HashMap::new();
        for program in self.processes.living().into_iter().filter_map(|pid| self.processes.program(pid)) {
            let uid = owner_of(&*program).uid;
            for description in program.process().files.descriptors.lock().slots().iter().flatten() {
                if let Target::Socket(id) = description.target {
                    users.entry(id).or_insert(uid);
                }
            }
        }
        users
    }
}
