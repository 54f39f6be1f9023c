//! The secrets socket of a runtime: receives the values of secrets. Next: `http/mod.rs`.

use crate::runtime::Runtime;
use coldframe_edge_link::{
    MAX_SECRET_FRAME_BYTES, SECRET_HEAD_BYTES, SecretBytes, SecretRequest, SecretSet, encode_secret_reply,
};
use coldframe_secrets::{Host, Place, Placeholder, Secret, SecretValue};
use std::io;
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use zeroize::Zeroizing;

/// The largest number of secrets sockets of one runtime. A further socket is closed.
const MAX_SOCKETS: usize = 4;

/// The reason why a request fails: the wrong part, and the expected form. Never a value.
type Wrong = (&'static str, String);

/// Serves the socket until the embedder closes the socket or breaks its rules.
pub async fn serve(runtime: Rc<Runtime>, mut stream: UnixStream) {
    if runtime.state.borrow().secret_sockets >= MAX_SOCKETS {
        return;
    }
    runtime.state.borrow_mut().secret_sockets += 1;
    // The embedder notices a broken rule by the end of the socket.
    while let Ok(true) = serve_one(&runtime, &mut stream).await {}
    runtime.state.borrow_mut().secret_sockets -= 1;
}

/// Serves one request. Returns false at the end of the socket.
async fn serve_one(runtime: &Runtime, stream: &mut UnixStream) -> io::Result<bool> {
    let mut length = [0; 4];
    if stream.read(&mut length[..1]).await? == 0 {
        return Ok(false);
    }
    stream.read_exact(&mut length[1..]).await?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if !(SECRET_HEAD_BYTES..=MAX_SECRET_FRAME_BYTES).contains(&length) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = Zeroizing::new(vec![0; length]);
    stream.read_exact(&mut frame).await?;
    let (id, request) = SecretRequest::decode(&frame).ok_or(io::ErrorKind::InvalidData)?;
    let result = apply(runtime, &request);
    let reply = result.as_ref().map(|()| ()).map_err(|(what, expected)| (*what, expected.as_str()));
    let reply = encode_secret_reply(id, reply).ok_or(io::ErrorKind::InvalidData)?;
    stream.write_all(&reply).await?;
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
