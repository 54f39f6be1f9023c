//! Signs requests for AWS (Signature Version 4), with a key that the guest does not have.
//!
//! The signature covers the method, the path, the query, the given headers and the hash of the
//! body. The edge does not buffer bodies: it uses the hash that the client has computed, or
//! `UNSIGNED-PAYLOAD`. The result replaces `authorization`, `x-amz-date` and
//! `x-amz-security-token`. Next: `aws_request.rs`.

use crate::value::SecretValue;
use displaydoc::Display;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use zeroize::Zeroizing;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// A key of AWS. The caller has checked the id (`aws_request.rs`).
#[derive(Clone)]
pub struct AwsKey {
    /// The id of the key, which is part of each request and no secret.
    pub id: String,
    /// The secret key.
    pub secret: SecretValue,
    /// The token of temporary keys.
    pub session_token: Option<SecretValue>,
}

/// The hash of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// The SHA-256 of the body as 64 hexadecimal digits in lower case.
    Hash(&'a str),
    /// `UNSIGNED-PAYLOAD`, which S3 accepts over TLS.
    Unsigned,
    /// `STREAMING-UNSIGNED-PAYLOAD-TRAILER`: chunks of AWS with a checksum behind them.
    UnsignedTrailer,
}

impl<'a> Payload<'a> {
    /// Returns the payload of a header `x-amz-content-sha256`. Returns `None` for payloads whose
    /// chunks have signatures of their own, because their signatures depend on the body.
    pub fn parse(text: &'a str) -> Option<Self> {
        match text {
            "UNSIGNED-PAYLOAD" => Some(Self::Unsigned),
            "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => Some(Self::UnsignedTrailer),
            text if is_hash(text) => Some(Self::Hash(text)),
            _ => None,
        }
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A request to sign.
#[derive(Debug, Clone, Copy)]
pub struct SigningRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The sent path, without the query.
    pub path: &'a str,
    /// The sent query, without `?`.
    pub query: &'a str,
    /// The headers to sign, in their order. `host` must be one of them. `authorization`,
    /// `x-amz-date` and `x-amz-security-token` are ignored.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// The hash of the body.
    pub payload: Payload<'a>,
    /// The region, such as `eu-central-1`.
    pub region: &'a str,
    /// The service, such as `s3`.
    pub service: &'a str,
    /// The time in UTC, such as `20150830T123600Z`.
    pub time: &'a str,
}

/// The headers that replace the headers of the request.
pub struct Signed {
    /// `authorization`.
    pub authorization: String,
    /// `x-amz-date`.
    pub date: String,
    /// `x-amz-security-token`. `None` means that the request must not have the header.
    pub security_token: Option<SecretValue>,
}

/// The reason why a request cannot be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, thiserror::Error)]
pub enum UnsignableRequest {
    /// a time such as 20150830T123600Z
    Time,
    /// a region and a service of letters, digits and hyphens
    Scope,
    /// a hash of 64 hexadecimal digits
    Hash,
    /// exactly one header host
    Host,
    /// a key that HMAC accepts
    Key,
}

/// Signs a request.
///
/// # Errors
/// Fails if a part of the request is wrong.
pub fn sign(key: &AwsKey, request: &SigningRequest<'_>) -> Result<Signed, UnsignableRequest> {
    check(request)?;
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in request.headers {
        let name = name.to_ascii_lowercase();
        if !["authorization", "x-amz-date", "x-amz-security-token"].contains(&name.as_str()) {
            headers.entry(name).or_default().push(trim(value));
        }
    }
    if headers.get("host").is_none_or(|hosts| hosts.len() != 1) {
        return Err(UnsignableRequest::Host);
    }
    headers.insert("x-amz-date".to_owned(), vec![request.time.to_owned()]);
    // The token is a secret, so the texts that contain it are overwritten.
    let token = key.session_token.as_ref().map(|token| trim(token.expose()));
    headers.extend(token.map(|token| ("x-amz-security-token".to_owned(), vec![token])));
    let names = headers.keys().map(String::as_str).collect::<Vec<_>>().join(";");
    let canonical = Zeroizing::new(canonical_request(request, &headers, &names));
    for (_, values) in headers {
        values.into_iter().for_each(|value| drop(Zeroizing::new(value)));
    }
    let date = request.time.get(..8).ok_or(UnsignableRequest::Time)?;
    let scope = format!("{date}/{}/{}/aws4_request", request.region, request.service);
    let text = format!("{ALGORITHM}\n{}\n{scope}\n{}", request.time, hex(&Sha256::digest(canonical.as_bytes())));
    let mut first = Zeroizing::new(Vec::with_capacity(4 + key.secret.expose().len()));
    first.extend_from_slice(b"AWS4");
    first.extend_from_slice(key.secret.expose());
    let mut derived = mac(&first, date)?;
    for part in [request.region, request.service, "aws4_request"] {
        derived = mac(&derived, part)?;
    }
    let signature = hex(&mac(&derived, &text)?);
    let authorization = format!("{ALGORITHM} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", key.id);
    Ok(Signed { authorization, date: request.time.to_owned(), security_token: key.session_token.clone() })
}

fn check(request: &SigningRequest<'_>) -> Result<(), UnsignableRequest> {
    let is_time = request.time.len() == 16
        && request.time.bytes().enumerate().all(|(place, byte)| match place {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        });
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match request.payload {
        _ if !is_time => Err(UnsignableRequest::Time),
        _ if !is_name(request.region) || !is_name(request.service) => Err(UnsignableRequest::Scope),
        Payload::Hash(hash) if !is_hash(hash) => Err(UnsignableRequest::Hash),
        _ => Ok(()),
    }
}

fn canonical_request(request: &SigningRequest<'_>, headers: &BTreeMap<String, Vec<String>>, names: &str) -> String {
    let mut text = format!("{}\n{}\n{}\n", request.method, canonical_path(request), canonical_query(request.query));
    for (name, values) in headers {
        text.push_str(name);
        text.push(':');
        text.push_str(&values.join(","));
        text.push('\n');
    }
    let payload = match request.payload {
        Payload::Hash(hash) => hash,
        Payload::Unsigned => "UNSIGNED-PAYLOAD",
        Payload::UnsignedTrailer => "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
    };
    text.push('\n');
    text.push_str(names);
    text.push('\n');
    text.push_str(payload);
    text
}

/// Returns the path. All services except S3 encode the path a second time.
fn canonical_path(request: &SigningRequest<'_>) -> String {
    if request.service == "s3" { request.path.to_owned() } else { encode(request.path.as_bytes(), b"/") }
}

/// Returns the fields of the query with one encoding, sorted.
fn canonical_query(query: &str) -> String {
    let fields = query.split('&').filter(|field| !field.is_empty());
    let mut fields: Vec<(String, String)> = fields
        .map(|field| field.split_once('=').unwrap_or((field, "")))
        .map(|(name, value)| (encode(&decode(name), b""), encode(&decode(value), b"")))
        .collect();
    fields.sort();
    fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// Decodes percent-encoded bytes. A percent sign without two digits stays.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let value = match (digit(at + 1), digit(at + 2)) {
            (Some(high), Some(low)) if *byte == b'%' => u8::try_from(high * 16 + low).ok(),
            _ => None,
        };
        at += if value.is_some() { 3 } else { 1 };
        out.push(value.unwrap_or(*byte));
    }
    out
}

fn encode(bytes: &[u8], kept: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) || kept.contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a text does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Returns the value of a header without spaces at its ends, and with single spaces.
fn trim(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    text.split([' ', '\t']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn mac(key: &[u8], text: &str) -> Result<Zeroizing<Vec<u8>>, UnsignableRequest> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| UnsignableRequest::Key)?;
    mac.update(text.as_bytes());
    Ok(Zeroizing::new(mac.finalize().into_bytes().to_vec()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    //! The cases are of the published test suite of AWS for Signature Version 4, and of the
    //! examples of the manual of S3.
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn signature(key: &AwsKey, request: &SigningRequest<'_>) -> String {
        let signed = sign(key, request).unwrap_or_else(|fault| panic!("{fault}"));
        signed.authorization.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    fn key(id: &str, secret: &str) -> AwsKey {
        AwsKey { id: id.to_owned(), secret: SecretValue::new(secret.as_bytes().to_vec()).unwrap(), session_token: None }
    }

    fn suite<'a>(method: &'a str, query: &'a str, headers: &'a [(&'a str, &'a [u8])], hash: &'a str) -> SigningRequest<'a> {
        SigningRequest {
            method,
            path: "/",
            query,
            headers,
            payload: Payload::Hash(hash),
            region: "us-east-1",
            service: "service",
            time: "20150830T123600Z",
        }
    }

    const HOST: (&str, &[u8]) = ("Host", b"example.amazonaws.com");

    #[test]
    fn signs_the_requests_of_the_suite() {
        let key = key("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let signed = sign(&key, &suite("GET", "", &[HOST], EMPTY)).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(
            signed.authorization,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        for (case, request, expected) in [
            (
                "post-vanilla",
                suite("POST", "", &[HOST], EMPTY),
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "get-vanilla-query-order-key-case",
                suite("GET", "Param2=value2&Param1=value1", &[HOST], EMPTY),
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "get-header-key-duplicate",
                suite("GET", "", &[HOST, ("My-Header1", b"value2"), ("My-Header1", b"value2"), ("My-Header1", b"value1")], EMPTY),
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
            ),
            (
                "get-header-value-trim",
                suite("GET", "", &[HOST, ("My-Header1", b" value1"), ("My-Header2", b" \"a   b   c\"")], EMPTY),
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
        ] {
            assert_eq!(signature(&key, &request), expected, "{case}");
        }
    }

    #[test]
    fn signs_the_examples_of_s3() {
        let key = key("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        let request = |path, query, headers| SigningRequest {
            method: "GET",
            path,
            query,
            headers,
            payload: Payload::Hash(EMPTY),
            region: "us-east-1",
            service: "s3",
            time: "20130524T000000Z",
        };
        let host: (&str, &[u8]) = ("Host", b"examplebucket.s3.amazonaws.com");
        let hash: (&str, &[u8]) = ("x-amz-content-sha256", EMPTY.as_bytes());
        let object = [host, hash, ("Range", b"bytes=0-9".as_slice())];
        assert_eq!(
            signature(&key, &request("/test.txt", "", &object)),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let bucket = [host, hash];
        assert_eq!(
            signature(&key, &request("/", "lifecycle", &bucket)),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature(&key, &request("/", "max-keys=2&prefix=J", &bucket)),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }

    #[test]
    fn replaces_the_headers_of_the_client() {
        let mut key = key("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
        let own: &[(&str, &[u8])] = &[HOST, ("Authorization", b"x"), ("X-Amz-Date", b"y"), ("x-amz-security-token", b"z")];
        assert_eq!(signature(&key, &suite("GET", "", own, EMPTY)), signature(&key, &suite("GET", "", &[HOST], EMPTY)));
        key.session_token = SecretValue::new(b"token".to_vec()).ok();
        let signed = sign(&key, &suite("GET", "", own, EMPTY)).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(signed.authorization.contains("SignedHeaders=host;x-amz-date;x-amz-security-token"));
        assert_eq!(signed.security_token.unwrap().expose(), b"token");
    }

    #[test]
    fn refuses_requests_that_cannot_be_signed() {
        let key = key("A", "B");
        let good = suite("GET", "", &[HOST], EMPTY);
        let fault = |request: SigningRequest<'_>| sign(&key, &request).err();
        assert_eq!(fault(good), None);
        assert_eq!(fault(SigningRequest { time: "2015-08-30T12:36", ..good }), Some(UnsignableRequest::Time));
        assert_eq!(fault(SigningRequest { region: "a/b", ..good }), Some(UnsignableRequest::Scope));
        assert_eq!(fault(SigningRequest { payload: Payload::Hash("STREAMING"), ..good }), Some(UnsignableRequest::Hash));
        assert_eq!(fault(SigningRequest { headers: &[], ..good }), Some(UnsignableRequest::Host));
        assert_eq!(fault(SigningRequest { headers: &[HOST, HOST], ..good }), Some(UnsignableRequest::Host));
    }
}
