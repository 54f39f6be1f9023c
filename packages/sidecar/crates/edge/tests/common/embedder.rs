//! The embedder's end of a secrets socket.

use super::Sidecar;
use coldframe_edge_link::*;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub const KEY: &str = "cfs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
pub const VALUE: &str = "real-value-of-the-key";

/// The embedder's end of a secrets socket.
pub struct Embedder(pub UnixStream);

impl Embedder {
    /// Opens the socket of a runtime, or returns the failure.
    pub fn open(sidecar: &mut Sidecar, runtime: u64) -> Result<Self, FailureKind> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut bytes = Vec::new();
        ToEdge::SecretsOpen { runtime }.encode(9_999, &mut bytes).unwrap();
        let descriptors = [theirs.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)));
        let sent = sendmsg(&sidecar.stream, &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::empty()).unwrap();
        assert_eq!(sent, bytes.len());
        match sidecar.reply(9_999) {
            ToSidecar::Done {} => Ok(Self(ours)),
            ToSidecar::Failed { failure } => Err(failure.kind),
            other => panic!("{other:?}"),
        }
    }

    pub fn ask(&mut self, request: &SecretRequest<'_>) -> Result<(), String> {
        self.0.write_all(&request.encode(1).unwrap()).unwrap();
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut frame = vec![0; u32::from_le_bytes(length) as usize];
        self.0.read_exact(&mut frame).unwrap();
        decode_secret_reply(&frame).unwrap().1.map_err(|(what, _)| what.to_owned())
    }

    pub fn set(&mut self, host: &str, insecure: bool) -> Result<(), String> {
        self.ask(&SecretRequest::Set(secret(&[host], insecure)))
    }
}

pub fn secret<'a>(hosts: &[&'a str], insecure: bool) -> SecretSet<'a> {
    SecretSet {
        name: "KEY",
        placeholder: Some(KEY),
        value: Some(SecretBytes(VALUE.as_bytes())),
        hosts: hosts.to_vec(),
        places: None,
        insecure,
    }
}
