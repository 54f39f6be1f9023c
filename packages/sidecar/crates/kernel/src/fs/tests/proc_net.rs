//! Tests of `/proc/net`: Linux's formats, the sockets of each file, and the inodes.

use super::super::super::Kernel;
use super::{Arg, Guest};
use crate::limits::Limits;
use coldframe_abi::system_calls::{FileCall, SocketCall};
use std::sync::Arc;

const UNIX: i64 = 1;
const V4: i64 = 2;
const V6: i64 = 10;
const STREAM: i64 = 1;
const DATAGRAM: i64 = 2;

const TCP_HEADER: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const UDP_HEADER: &str =
    "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops";
const V6_HEADER: &str = "  sl  local_address                         remote_address                        st tx_queue \
                         rx_queue tr tm->when retrnsmt   uid  timeout inode";
const UNIX_HEADER: &str = "Num       RefCount Protocol Flags    Type St Inode Path";

fn guest() -> Guest {
    Guest::new(Limits::default())
}

fn text(guest: &mut Guest, name: &str) -> String {
    String::from_utf8(guest.read_file(&format!("/proc/net/{name}")).expect("readable")).expect("UTF-8")
}

/// Returns the fields of each line after the first.
fn rows(guest: &mut Guest, name: &str) -> Vec<Vec<String>> {
    let text = text(guest, name);
    text.lines().skip(1).map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

fn socket(guest: &mut Guest, domain: i64, kind: i64) -> i64 {
    let fd = guest.plain(SocketCall::Socket, &[domain.into(), kind.into()]);
    assert!(fd >= 0, "{fd}");
    fd
}

fn bound(guest: &mut Guest, (domain, kind): (i64, i64), address: &str, port: i64) -> i64 {
    let fd = socket(guest, domain, kind);
    assert_eq!(guest.plain(SocketCall::Bind, &[fd.into(), address.into(), port.into(), 0.into()]), 0, "{address}");
    fd
}

fn listening(guest: &mut Guest, domain: i64, address: &str, port: i64) -> i64 {
    let fd = bound(guest, (domain, STREAM), address, port);
    assert_eq!(guest.plain(SocketCall::Listen, &[fd.into(), 16.into()]), 0);
    fd
}

fn connected(guest: &mut Guest, domain: i64, address: &str, port: i64) -> i64 {
    let fd = socket(guest, domain, STREAM);
    assert_eq!(guest.plain(SocketCall::Connect, &[fd.into(), address.into(), port.into()]), 0, "{address}");
    fd
}

/// Returns the inode that the descriptor's link shows.
fn inode(guest: &mut Guest, fd: i64) -> String {
    let (len, target) = guest.sys(FileCall::Readlink, &[format!("/proc/self/fd/{fd}").as_str().into(), Arg::Room(100)]);
    let target = String::from_utf8_lossy(&target[..len as usize]).into_owned();
    target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')).expect("a socket").to_owned()
}

#[test]
fn files_without_sockets_have_linuxs_headers() {
    let mut guest = guest();
    assert_eq!(text(&mut guest, "tcp"), format!("{TCP_HEADER:<149}\n"));
    assert_eq!(text(&mut guest, "udp"), format!("{UDP_HEADER:<127}\n"));
    assert_eq!(text(&mut guest, "tcp6"), format!("{V6_HEADER}\n"));
    assert_eq!(text(&mut guest, "udp6"), format!("{V6_HEADER} ref pointer drops\n"));
    assert_eq!(text(&mut guest, "unix"), format!("{UNIX_HEADER}\n"));
    let (len, target) = guest.sys(FileCall::Readlink, &["/proc/net".into(), Arg::Room(100)]);
    assert_eq!(target[..len as usize], *b"self/net");
    let mut names: Vec<String> = guest.list("/proc/net", 300).expect("a directory").into_iter().map(|entry| entry.0).collect();
    names.sort();
    assert_eq!(names, ["tcp", "tcp6", "udp", "udp6", "unix"]);
}

#[test]
fn a_listener_has_linuxs_line_with_its_inode_and_user() {
    let mut guest = guest();
    let fd = listening(&mut guest, V4, "127.0.0.1", 3_000);
    let inode: u32 = inode(&mut guest, fd).parse().expect("a number");
    let line = format!(
        "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 {inode} 1 \
         0000000000000000 100 0 0 10 0"
    );
    assert_eq!(text(&mut guest, "tcp"), format!("{TCP_HEADER:<149}\n{line:<149}\n"));
    let unlistened = bound(&mut guest, (V4, STREAM), "127.0.0.1", 3_001);
    assert_eq!(rows(&mut guest, "tcp").len(), 1, "a bound socket that does not listen is not listed");
    guest.plain(SocketCall::Close, &[unlistened.into(), 0.into()]);
    guest.plain(SocketCall::Close, &[fd.into(), 0.into()]);
    assert!(rows(&mut guest, "tcp").is_empty());
}

#[test]
fn a_connection_has_a_line_for_each_end_and_follows_the_state() {
    let mut guest = guest();
    let listener = listening(&mut guest, V4, "0.0.0.0", 80);
    let client = connected(&mut guest, V4, "127.0.0.1", 80);
    let waiting = rows(&mut guest, "tcp");
    let listener_row = &waiting[0];
    assert_eq!(listener_row[1..5], ["00000000:0050", "00000000:0000", "0A", "00000000:00000001"], "one connection waits");
    assert_eq!(waiting[2][1], "0100007F:0050");
    assert_eq!([&waiting[2][7], &waiting[2][9]], ["0", "0"], "a connection that waits has no user and no inode");
    let accepted = guest.plain(SocketCall::Accept, &[listener.into()]);
    let (of_client, of_server) = (inode(&mut guest, client), inode(&mut guest, accepted));
    assert_eq!(guest.plain(SocketCall::Write, &[client.into(), "hello".into()]), 5);
    let open = rows(&mut guest, "tcp");
    assert_eq!([&open[1][3], &open[1][9], &open[1][7]], ["01", &of_client, "1000"]);
    assert_eq!([&open[2][3], &open[2][9], &open[2][4]], ["01", &of_server, "00000000:00000005"]);
    assert_eq!([&open[1][1], &open[1][2]], [&open[2][2], &open[2][1]], "the ends have each other's addresses");
    assert_eq!(guest.plain(SocketCall::Shutdown, &[client.into()]), 0);
    let shut = rows(&mut guest, "tcp");
    assert_eq!([&shut[1][3], &shut[2][3]], ["05", "08"]);
    assert_eq!(guest.plain(SocketCall::Close, &[client.into(), 0.into()]), 0);
    assert_eq!(rows(&mut guest, "tcp").len(), 2);
    assert_eq!(guest.plain(SocketCall::Close, &[accepted.into(), 0.into()]), 0);
    assert_eq!(rows(&mut guest, "tcp").len(), 1);
}

#[test]
fn addresses_of_v6_have_linuxs_words_and_map_v4() {
    let mut guest = guest();
    let any = listening(&mut guest, V6, "::", 3_000);
    let own = listening(&mut guest, V6, "::1", 3_001);
    let client = connected(&mut guest, V4, "127.0.0.1", 3_000);
    let accepted = guest.plain(SocketCall::Accept, &[any.into()]);
    let text = text(&mut guest, "tcp6");
    let (of_any, of_own) = (inode(&mut guest, any), inode(&mut guest, own));
    let rest = "00:00000000 00000000  1000        0";
    let line = format!("   0: {0:032}:0BB8 {0:032}:0000 0A 00000000:00000000 {rest} {of_any} 1 0000000000000000 100 0 0 10 0", 0);
    assert_eq!(text.lines().nth(1), Some(line.as_str()));
    assert!(text.contains(&format!("   1: {:024}01000000:0BB9 {:032}:0000 0A 00000000:00000000 {rest} {of_own} 1", 0, 0)));
    let rows = rows(&mut guest, "tcp6");
    assert_eq!(rows[2][1], "0000000000000000FFFF00000100007F:0BB8");
    assert!(rows[2][2].starts_with("0000000000000000FFFF00000100007F:"));
    assert_eq!(rows[2][9], inode(&mut guest, accepted));
    assert_eq!(self::rows(&mut guest, "tcp")[0][9], inode(&mut guest, client), "each end is listed in its own family");
}

#[test]
fn a_datagram_socket_is_listed_while_it_is_bound() {
    let mut guest = guest();
    let fd = bound(&mut guest, (V4, DATAGRAM), "127.0.0.1", 53);
    let unbound = socket(&mut guest, V4, DATAGRAM);
    let line = format!(
        "    0: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 {} 2 0000000000000000 0",
        inode(&mut guest, fd)
    );
    assert_eq!(text(&mut guest, "udp"), format!("{UDP_HEADER:<127}\n{line:<127}\n"));
    assert_eq!(guest.plain(SocketCall::Connect, &[unbound.into(), "127.0.0.1".into(), 53.into()]), 0);
    assert_eq!(guest.plain(SocketCall::Send, &[unbound.into(), "hello".into(), "".into(), 0.into()]), 5);
    let rows = rows(&mut guest, "udp");
    assert_eq!([&rows[1][2], &rows[1][3]], ["0100007F:0035", "01"]);
    assert_ne!(rows[0][4], "00000000:00000000", "a message waits");
}

#[test]
fn unix_sockets_have_paths_and_pipes_are_not_listed() {
    let mut guest = guest();
    let fd = listening(&mut guest, UNIX, "/tmp/a socket", 0);
    let hidden = listening(&mut guest, UNIX, "\0na\0me", 0);
    let client = connected(&mut guest, UNIX, "/tmp/a socket", 0);
    let accepted = guest.plain(SocketCall::Accept, &[fd.into()]);
    let fresh = socket(&mut guest, UNIX, STREAM);
    assert_eq!(guest.plain(SocketCall::Pair, &[Arg::Room(8)]), 0);
    let line = |guest: &mut Guest, fd: i64, middle: &str, name: &str| {
        format!("0000000000000000: {middle} {:>5}{name}", inode(guest, fd))
    };
    let expected = [
        UNIX_HEADER.to_owned(),
        line(&mut guest, fd, "00000002 00000000 00010000 0001 01", " /tmp/a socket"),
        line(&mut guest, hidden, "00000002 00000000 00010000 0001 01", " @na@me"),
        line(&mut guest, client, "00000003 00000000 00000000 0001 03", ""),
        line(&mut guest, accepted, "00000003 00000000 00000000 0001 03", " /tmp/a socket"),
        line(&mut guest, fresh, "00000002 00000000 00000000 0001 01", ""),
    ];
    let text = text(&mut guest, "unix");
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn every_process_and_the_embedder_see_the_sockets_of_the_runtime() {
    let kernel = Arc::new(Kernel::new(&Limits::default()));
    let (mut one, mut other) = (Guest::of(&kernel, "/workspace"), Guest::of(&kernel, "/workspace"));
    listening(&mut one, V4, "127.0.0.1", 80);
    assert_eq!(text(&mut one, "tcp"), text(&mut other, "tcp"));
    let path = format!("/proc/{}/net/tcp", other.program.pid());
    let (bytes, _) = kernel.embedder_files().read(&path, 0, 4_096).expect("readable");
    assert_eq!(String::from_utf8_lossy(&bytes), text(&mut one, "tcp"));
    let mut stranger = guest();
    assert!(rows(&mut stranger, "tcp").is_empty(), "a runtime does not see the sockets of another runtime");
}

#[test]
fn many_sockets_cost_little_and_count_as_kernel_memory() {
    const SOCKETS: i64 = 4_000;
    let mut guest = Guest::new(Limits { sockets: 8_192, descriptors: 8_192, ..Limits::default() });
    for at in 0..SOCKETS {
        listening(&mut guest, V4, "127.0.0.1", 1_000 + at);
    }
    let kernel = guest.program.process().kernel.clone();
    let held = || kernel.usage.gauge(crate::usage::Resource::Kernel).used_and_highest().0;
    let before = held();
    let fd = guest.plain(FileCall::Open, &["/proc/net/tcp".into(), 0.into(), 0.into()]);
    assert!(fd >= 0);
    println!("{:?} for {SOCKETS} sockets", guest.last);
    assert!(held() - before >= SOCKETS as u64 * 150, "the text counts while the file is open");
    guest.plain(FileCall::Close, &[fd.into()]);
    assert_eq!(held(), before);
    assert_eq!(rows(&mut guest, "tcp").len() as i64, SOCKETS);
}
