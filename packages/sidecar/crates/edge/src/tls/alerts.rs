//! The errors of rustls as OpenSSL's reasons, from which the guest makes the codes of Node's
//! errors.
//! Next: `verify.rs`.

use rustls::{AlertDescription, Error, PeerIncompatible, PeerMisbehaved};

/// Returns OpenSSL's reason of a failed session, in lower case with spaces.
pub fn reason(error: &Error) -> &'static str {
    match error {
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::NoApplicationProtocol => "no application protocol",
        Error::InvalidMessage(_) => "wrong version number",
        Error::PeerIncompatible(
            PeerIncompatible::NoCipherSuitesInCommon
            | PeerIncompatible::NoKxGroupsInCommon
            | PeerIncompatible::NoSignatureSchemesInCommon
            | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon
            | PeerIncompatible::NamedGroupsExtensionRequired,
        )
        | Error::General(_) => "no shared cipher",
        Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::SupportedVersionsExtensionRequired
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled
            | PeerIncompatible::Tls13RequiredForQuic,
        ) => "unsupported protocol",
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedCipherSuite) => "wrong cipher returned",
        Error::DecryptError => "decryption failed or bad record mac",
        Error::NoCertificatesPresented => "peer did not return a certificate",
        Error::PeerSentOversizedRecord => "packet length too long",
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => "unexpected message",
        _ => "internal error",
    }
}

/// Returns the number of the alert that the peer has sent.
pub fn alert_number(error: &Error) -> Option<u8> {
    match error {
        Error::AlertReceived(alert) => Some(u8::from(*alert)),
        _ => None,
    }
}

fn of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::UnexpectedMessage => "ssl/tls alert unexpected message",
        AlertDescription::BadRecordMac => "ssl/tls alert bad record mac",
        AlertDescription::HandshakeFailure => "ssl/tls alert handshake failure",
        AlertDescription::BadCertificate => "ssl/tls alert bad certificate",
        AlertDescription::UnsupportedCertificate => "ssl/tls alert unsupported certificate",
        AlertDescription::CertificateRevoked => "ssl/tls alert certificate revoked",
        AlertDescription::CertificateExpired => "ssl/tls alert certificate expired",
        AlertDescription::CertificateUnknown => "ssl/tls alert certificate unknown",
        AlertDescription::IllegalParameter => "ssl/tls alert illegal parameter",
        AlertDescription::UnknownCA => "tlsv1 alert unknown ca",
        AlertDescription::AccessDenied => "tlsv1 alert access denied",
        AlertDescription::DecodeError => "tlsv1 alert decode error",
        AlertDescription::DecryptError => "tlsv1 alert decrypt error",
        AlertDescription::ProtocolVersion => "tlsv1 alert protocol version",
        AlertDescription::InsufficientSecurity => "tlsv1 alert insufficient security",
        AlertDescription::InternalError => "tlsv1 alert internal error",
        AlertDescription::UserCanceled => "tlsv1 alert user cancelled",
        AlertDescription::NoRenegotiation => "tlsv1 alert no renegotiation",
        AlertDescription::UnrecognisedName => "tlsv1 unrecognized name",
        AlertDescription::CertificateRequired => "tlsv13 alert certificate required",
        AlertDescription::NoApplicationProtocol => "tlsv1 alert no application protocol",
        _ => "ssl/tls alert handshake failure",
    }
}
