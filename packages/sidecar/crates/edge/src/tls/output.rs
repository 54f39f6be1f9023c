//! The results of a session: records for the guest, and the bytes of an attached session that do
//! not pass the guest. Next: `engine.rs`.

use super::records::{self, ToGuest};
use rustls::Connection;
use std::io::BufRead;

/// The receiver of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Route {
    /// The guest, in records.
    #[default]
    Guest,
    /// The edge itself.
    Edge,
}

/// The results of a step of a session.
#[derive(Debug, Default)]
pub struct Output {
    /// The records for the guest.
    pub records: Vec<u8>,
    /// The encrypted bytes for the peer, if the edge moves these bytes.
    pub to_peer: Vec<u8>,
    /// The plain bytes of the peer, if the HTTP filter receives these bytes.
    pub to_filter: Vec<u8>,
    /// The receiver of encrypted bytes for the peer.
    pub encrypted_to: Route,
    /// The receiver of plain bytes of the peer.
    pub plain_to: Route,
    /// The position of the last record, if it has plain bytes of the peer.
    plain_at: Option<usize>,
}

impl Output {
    /// Makes an empty receiver.
    pub fn new(encrypted_to: Route, plain_to: Route) -> Self {
        Self { encrypted_to, plain_to, ..Self::default() }
    }

    /// Appends a record for the guest.
    pub fn record(&mut self, kind: ToGuest, payload: &[u8]) {
        self.plain_at = None;
        records::write(&mut self.records, kind, payload);
    }

    /// Appends plain bytes of the peer for the guest. The bytes of several records of TLS are one
    /// record, because each record is an event of the program. Only an attached session joins them:
    /// with a session that the guest moves, programs receive records of TLS one by one, as in Node.
    fn plain(&mut self, bytes: &[u8]) {
        match self.plain_at {
            Some(at) if records::extend(&mut self.records, at, bytes) => {}
            _ => {
                self.plain_at = Some(self.records.len());
                records::write(&mut self.records, ToGuest::Plain, bytes);
            }
        }
    }

    /// Appends an event for the guest.
    pub fn event(&mut self, event: &serde_json::Value) {
        self.record(ToGuest::Event, event.to_string().as_bytes());
    }

    /// Reports that plain bytes of the guest are encrypted.
    pub fn written(&mut self, count: usize) {
        self.record(ToGuest::Written, &u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    }

    /// Reports that a record of the guest is handled.
    pub fn handled(&mut self) {
        self.record(ToGuest::Handled, &[]);
    }

    /// Appends encrypted bytes for the peer.
    pub fn encrypted(&mut self, bytes: &[u8]) {
        match self.encrypted_to {
            Route::Guest if bytes.is_empty() => {}
            Route::Guest => self.record(ToGuest::Encrypted, bytes),
            Route::Edge => self.to_peer.extend_from_slice(bytes),
        }
    }

    /// Reports that the peer has ended its plain bytes. The filter notices the end itself.
    pub fn plain_end(&mut self) {
        if self.plain_to == Route::Guest {
            self.record(ToGuest::PlainEnd, &[]);
        }
    }

    /// Takes the encrypted bytes of a session.
    pub fn flush(&mut self, connection: &mut Connection) {
        let mut bytes = Vec::new();
        let target = if self.encrypted_to == Route::Edge { &mut self.to_peer } else { &mut bytes };
        while connection.wants_write() {
            // A vector accepts all bytes.
            if !matches!(connection.write_tls(target), Ok(1..)) {
                break;
            }
        }
        self.encrypted(&bytes);
    }

    /// Takes the encrypted bytes of a session. If the bytes end with the record `own`, the record
    /// is replaced with `other`.
    pub fn flush_replacing(&mut self, connection: &mut Connection, own: &[u8], other: &[u8]) {
        let mut bytes = Vec::new();
        while connection.wants_write() && matches!(connection.write_tls(&mut bytes), Ok(1..)) {}
        if let Some(before) = bytes.strip_suffix(own) {
            bytes = [before, other].concat();
        }
        self.encrypted(&bytes);
    }

    /// Takes the plain bytes of a session.
    pub fn take_plain(&mut self, connection: &mut Connection) {
        let mut reader = connection.reader();
        // As in OpenSSL, a read returns bytes of one record of TLS.
        while let Ok(bytes) = reader.fill_buf() {
            let count = bytes.len();
            if count == 0 {
                break;
            }
            match self.plain_to {
                Route::Guest if self.encrypted_to == Route::Edge => self.plain(bytes),
                Route::Guest => self.record(ToGuest::Plain, bytes),
                Route::Edge => self.to_filter.extend_from_slice(bytes),
            }
            reader.consume(count);
        }
    }
}
