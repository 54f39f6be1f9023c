//! The secrets socket of a runtime: receives the values of secrets. Next: `http/mod.rs`.
//!
//! An embedder has made the socket, so the socket may be blocking, and the wall of the process has
//! no call that changes this. Therefore each call on the socket has the flag `MSG_DONTWAIT`.

use crate::runtime::Runtime;
use coldframe_edge_link::{
    MAX_SECRET_FRAME_BYTES, SECRET_HEAD_BYTES, SecretBytes, SecretRequest, SecretSet, encode_secret_reply,
};
use coldframe_secrets::{Host, Place, Placeholder, Secret, SecretValue};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use zeroize::Zeroizing;

/// The largest number of secrets sockets of one runtime. A further socket is closed.
const MAX_SOCKETS: usize = 4;

/// The reason why a request fails: the wrong part, and the expected form. Never a value.
type Wrong = (&'static str, String);

/// The descriptor of a socket.
struct Descriptor(OwnedFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// A socket that may be blocking.
struct Socket(AsyncFd<Descriptor>);

impl Socket {
    fn new(socket: OwnedFd) -> io::Result<Self> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        // SAFETY: `Descriptor` owns the descriptor, and neither closes nor replaces it while it
        // lives.
        Ok(Self(unsafe { AsyncFd::register_with_interest(Descriptor(socket), interest) }?))
    }

    /// Fills the buffer. Returns false if the socket has ended before the first byte.
    async fn read_exact(&self, buffer: &mut [u8]) -> io::Result<bool> {
        let mut filled = 0;
        while let Some(space) = buffer.get_mut(filled..).filter(|space| !space.is_empty()) {
            let mut ready = self.0.readable().await?;
            let received = ready.try_io(|socket| {
                let (count, _) = recv(&socket.get_ref().0, &mut *space, RecvFlags::DONTWAIT)?;
                Ok(count)
            });
            match received {
                Ok(Ok(0)) if filled == 0 => return Ok(false),
                Ok(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => filled += count?,
                // The socket is not ready after all.
                Err(_) => {}
            }
        }
        Ok(true)
    }

    async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.0.writable().await?;
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            if let Ok(sent) = ready.try_io(|socket| Ok(send(&socket.get_ref().0, bytes, flags)?)) {
                bytes = bytes.get(sent?..).unwrap_or_default();
            }
        }
        Ok(())
    }
}

/// Serves the socket until the embedder closes the socket or breaks its rules.
pub async fn serve(runtime: Rc<Runtime>, socket: OwnedFd) {
    let Ok(socket) = Socket::new(socket) else { return };
    if runtime.state.borrow().secret_sockets >= MAX_SOCKETS {
        return;
    }
    runtime.state.borrow_mut().secret_sockets += 1;
    // The embedder notices a broken rule by the end of the socket.
    while let Ok(true) = serve_one(&runtime, &socket).await {}
    runtime.state.borrow_mut().secret_sockets -= 1;
}

/// Serves one request. Returns false at the end of the socket.
async fn serve_one(runtime: &Runtime, socket: &Socket) -> io::Result<bool> {
    let mut length = [0; 4];
    if !socket.read_exact(&mut length).await? {
        return Ok(false);
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if !(SECRET_HEAD_BYTES..=MAX_SECRET_FRAME_BYTES).contains(&length) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = Zeroizing::new(vec![0; length]);
    if !socket.read_exact(&mut frame).await? {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let (id, request) = SecretRequest::decode(&frame).ok_or(io::ErrorKind::InvalidData)?;
    let result = apply(runtime, &request);
    let reply = match &result {
        Ok(()) => Ok(()),
        Err((what, expected)) => Err((*what, expected.as_str())),
    };
    let reply = encode_secret_reply(id, reply).ok_or(io::ErrorKind::InvalidData)?;
    socket.write_all(&reply).await?;
    Ok(true)
}

fn apply(runtime: &Runtime, request: &SecretRequest<'_>) -> Result<(), Wrong> {
    let unknown = || ("name", "the name of a secret of the runtime".to_owned());
    match request {
        SecretRequest::Set(set) => {
            let secret = secret(set)?;
            let mut state = runtime.state.borrow_mut();
            state.secrets.set(set.name, secret).map_err(|fault| ("secret", fault.to_string()))
        }
        SecretRequest::Value { name, value } => {
            let value = value.map(parse_value).transpose()?;
            let is_known = runtime.state.borrow_mut().secrets.set_value(name, value);
            if is_known { Ok(()) } else { Err(unknown()) }
        }
        SecretRequest::Remove { name } => {
            let is_known = runtime.state.borrow_mut().secrets.remove(name);
            if is_known { Ok(()) } else { Err(unknown()) }
        }
    }
}

fn parse_value(value: SecretBytes<'_>) -> Result<SecretValue, Wrong> {
    SecretValue::new(value.0.to_vec()).map_err(|fault| ("value", fault.to_string()))
}

fn secret(set: &SecretSet<'_>) -> Result<Secret, Wrong> {
    let placeholder = set.placeholder.map(Placeholder::parse).transpose();
    let hosts = set.hosts.iter().map(|host| Host::parse(host)).collect::<Result<_, _>>();
    let places = match &set.places {
        Some(places) => places.iter().map(|place| Place::parse(place)).collect::<Result<_, _>>(),
        None => Ok(Place::defaults()),
    };
    Ok(Secret {
        placeholder: placeholder.map_err(|fault| ("placeholder", fault.to_string()))?,
        value: set.value.map(parse_value).transpose()?,
        hosts: hosts.map_err(|fault| ("hosts", fault.to_string()))?,
        places: places.map_err(|fault| ("in", fault.to_string()))?,
        insecure: set.insecure,
    })
}
