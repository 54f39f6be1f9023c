//! The server of a session of TLS to a name to whose requests the app responds.
//!
//! A program speaks TLS through the edge, so the edge can be the server too. The handshake is a
//! real handshake in this process, so that a program sees the facts of a usual session. The key of
//! the authority is made once in a process, and is trusted by these sessions alone. The filter
//! reads the plain bytes before the session encrypts them, so no request reaches this server. A
//! program that encrypts its bytes itself is refused (`opaque-tls`), because no filter could read
//! the bytes.

use crate::tls::{Roots, parse_roots, server_config};
use coldframe_egress::Name;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The common name of the authority.
const AUTHORITY: &str = "Coldframe, requests that the app handles";

/// The authority of the certificates, for the sessions of this process alone.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    roots: Arc<Roots>,
}

impl Authority {
    /// Makes an authority with a new key. Returns `None` if the system has no random numbers.
    pub fn new() -> Option<Self> {
        let mut params = params(Vec::new(), AUTHORITY)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().ok()?).ok()?;
        let roots = Arc::new(parse_roots([issuer.pem().as_str()]));
        Some(Self { issuer, roots })
    }

    /// Returns the roots that a session must trust.
    pub fn roots(&self) -> Arc<Roots> {
        self.roots.clone()
    }

    /// Makes the server of one session.
    pub fn server(&self, name: &Name) -> Option<LocalServer> {
        let key = KeyPair::generate().ok()?;
        let own = params(vec![name.as_str().to_owned()], name.as_str())?.signed_by(&key, &self.issuer).ok()?;
        let config: Arc<ServerConfig> = server_config(own.der().clone(), &key.serialize_der())?;
        let connection = ServerConnection::new(config).ok()?;
        Some(LocalServer { connection, has_failed: false, waker: None })
    }
}

fn params(names: Vec<String>, common: &str) -> Option<CertificateParams> {
    let mut params = CertificateParams::new(names).ok()?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common);
    Some(params)
}

/// The server of one session, as the stream of encrypted bytes to its client.
pub struct LocalServer {
    connection: ServerConnection,
    has_failed: bool,
    waker: Option<Waker>,
}

impl AsyncRead for LocalServer {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, space: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.connection.wants_write() && space.remaining() > 0 {
            let mut piece = space.initialize_unfilled();
            let before = piece.len();
            let count = this.connection.write_tls(&mut piece)?;
            space.advance(count.min(before));
        }
        if !space.filled().is_empty() || this.has_failed {
            return Poll::Ready(Ok(()));
        }
        this.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for LocalServer {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, mut bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let count = bytes.len();
        while !bytes.is_empty() && !this.has_failed {
            let is_read = this.connection.read_tls(&mut bytes).is_ok();
            let processed = this.connection.process_new_packets();
            // The filter has the plain bytes, so the client sends none.
            this.has_failed = !is_read || !processed.is_ok_and(|state| state.plaintext_bytes_to_read() == 0);
        }
        this.waker.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.has_failed = true;
        this.waker.take().into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(()))
    }
}
