//! An address that the host machine receives while the edge runs. The edge runs in a network
//! namespace of its own, in which the test adds an address to the loopback interface. Making the
//! namespace needs root, so that the test does nothing for other users.

mod common;

use coldframe_edge::{Server, Surroundings};
use coldframe_edge_link::*;
use common::*;
use std::mem::zeroed;
use std::net::Ipv4Addr;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A public address.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 14);

/// Adds an address to the loopback interface of the thread's namespace, and turns it on.
fn add_address(address: Ipv4Addr) {
    // SAFETY: a request of zeros is valid. The request outlives the calls.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        let mut request: libc::ifreq = zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
        assert_eq!(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request), 0);
        let mut value: libc::sockaddr_in = zeroed();
        value.sin_family = libc::AF_INET as libc::sa_family_t;
        value.sin_addr.s_addr = u32::from(address).to_be();
        (&raw mut request.ifr_ifru).cast::<libc::sockaddr_in>().write_unaligned(value);
        assert_eq!(libc::ioctl(socket, libc::SIOCSIFADDR as _, &raw const request), 0);
        libc::close(socket);
    }
}

#[test]
fn an_address_that_the_host_machine_receives_later_is_refused() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let edge = std::thread::spawn(move || {
        // SAFETY: the call changes only this thread and the threads that it makes.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            ready.send(false).unwrap();
            return;
        }
        let mut server = Server::new(theirs).unwrap();
        server.follow_interfaces().unwrap();
        let surroundings = Surroundings::read().unwrap();
        // A thread has the namespace of the thread that made it.
        let (add, is_asked) = std::sync::mpsc::channel::<()>();
        let adder = std::thread::spawn(move || {
            if is_asked.recv().is_ok() {
                add_address(ADDRESS);
            }
        });
        ADDER.lock().unwrap().replace(add);
        ready.send(true).unwrap();
        server.serve(surroundings).unwrap();
        adder.join().unwrap();
    });
    if !is_ready.recv().unwrap() {
        println!("no network namespace can be made");
        return edge.join().unwrap();
    }
    let mut sidecar = Sidecar::over(ours);
    sidecar.hello();
    sidecar.set(1, Options { outside: OutsideMode::Public, limits: wide(), ..Options::default() });
    let peer = (ADDRESS, 443).into();
    assert_eq!(errno(sidecar.connect(1, peer)), libc::ENETUNREACH);
    ADDER.lock().unwrap().take().unwrap().send(()).unwrap();
    // The notification of the system is not a reply to a message, so that the test repeats.
    let limit = Instant::now() + Duration::from_secs(60);
    let refused = loop {
        assert!(Instant::now() < limit, "the edge does not follow the change");
        match sidecar.connect(2, peer).unwrap_err().unwrap() {
            FailureKind::Denied(denied) => break denied,
            FailureKind::Errno(_) => sidecar.forget(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((&*refused.reason, refused.detail.as_deref()), ("private-address", Some("own-address")));
    drop(sidecar);
    edge.join().unwrap();
}

static ADDER: std::sync::Mutex<Option<std::sync::mpsc::Sender<()>>> = std::sync::Mutex::new(None);
