//! The signature that a guest has made with a placeholder: which key it names, and for which
//! service.
//!
//! The edge removes the guest's signature and makes a new signature for the same service. A signed
//! URL becomes a request with a signed header.

use crate::sigv4::{AwsKey, decode};
use crate::value::{InvalidValue, SecretValue};
use std::time::{Duration, UNIX_EPOCH};

/// The maximum length of the id of a key, in bytes.
const MAX_ID_BYTES: usize = 128;
/// The fields of a signed URL that are the signature.
const SIGNATURE_FIELDS: [&str; 7] = [
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
];

/// The guest's signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The id of the key, which is a placeholder.
    pub key_id: String,
    /// The region.
    pub region: String,
    /// The service.
    pub service: String,
}

impl AwsKey {
    /// Checks a key.
    ///
    /// # Errors
    /// Fails if a part cannot be a part of a header.
    pub fn new(id: &[u8], secret: &[u8], session_token: Option<&[u8]>) -> Result<Self, InvalidValue> {
        let is_known = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        if id.is_empty() {
            return Err(InvalidValue::Empty);
        }
        if id.len() > MAX_ID_BYTES {
            return Err(InvalidValue::TooLong);
        }
        let id = String::from_utf8(id.to_vec()).ok().filter(|id| id.as_bytes().iter().all(is_known));
        let session_token = session_token.map(|token| SecretValue::new(token.to_vec())).transpose()?;
        Ok(Self { id: id.ok_or(InvalidValue::Control)?, secret: SecretValue::new(secret.to_vec())?, session_token })
    }
}

impl Claim {
    /// Returns the claim of a header `authorization`. Returns `None` if the header is no signature
    /// of version 4.
    pub fn of_header(value: &str) -> Option<Self> {
        let fields = value.strip_prefix("AWS4-HMAC-SHA256")?.split([',', ' ']);
        let scope = fields.filter_map(|field| field.strip_prefix("Credential=")).next()?;
        Self::of_scope(scope)
    }

    /// Returns the claim of a signed URL, and the query without the signature.
    pub fn of_query(query: &str) -> Option<(Self, String)> {
        let name = |field: &str| String::from_utf8(decode(field.split_once('=').unwrap_or((field, "")).0)).unwrap_or_default();
        let value = |wanted: &str| {
            let field = query.split('&').find(|field| name(field) == wanted)?;
            String::from_utf8(decode(field.split_once('=')?.1)).ok()
        };
        if value("X-Amz-Algorithm")? != "AWS4-HMAC-SHA256" {
            return None;
        }
        let claim = Self::of_scope(&value("X-Amz-Credential")?)?;
        let rest = query.split('&').filter(|field| !SIGNATURE_FIELDS.contains(&name(field).as_str()));
        Some((claim, rest.collect::<Vec<_>>().join("&")))
    }

    fn of_scope(scope: &str) -> Option<Self> {
        let mut parts = scope.split('/');
        let (key_id, _date, region, service) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_whole = parts.next() == Some("aws4_request") && parts.next().is_none();
        is_whole.then(|| Self { key_id: key_id.to_owned(), region: region.to_owned(), service: service.to_owned() })
    }
}

/// Returns the text of a time, such as `20150830T123600Z`.
pub fn amz_time(since_1970: Duration) -> String {
    let seconds = since_1970.as_secs();
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= if is_leap(year) { 366 } else { 365 } {
        days -= if is_leap(year) { 366 } else { 365 };
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}{month:02}{:02}T{hour:02}{minute:02}{:02}Z", days + 1, second % 60)
}

/// Returns the present time of the machine for a signature.
pub fn amz_now() -> String {
    amz_time(UNIX_EPOCH.elapsed().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_claims_of_headers_and_of_urls() {
        let claim = Claim { key_id: "cfs_A".to_owned(), region: "eu-west-1".to_owned(), service: "s3".to_owned() };
        let scope = "cfs_A/20260101/eu-west-1/s3/aws4_request";
        for separator in [", ", ","] {
            let header = format!("AWS4-HMAC-SHA256 Credential={scope}{separator}SignedHeaders=host{separator}Signature=ab");
            assert_eq!(Claim::of_header(&header), Some(claim.clone()));
        }
        let query = format!(
            "x-id=GetObject&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={}&X-Amz-Date=1&X-Amz-Expires=900&\
             X-Amz-Signature=ab&X-Amz-SignedHeaders=host&a=b%20c",
            scope.replace('/', "%2F")
        );
        assert_eq!(Claim::of_query(&query), Some((claim, "x-id=GetObject&a=b%20c".to_owned())));
        for wrong in ["Bearer x", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a/b/c", "AWS4-ECDSA-P256-SHA256 Credential=a"]
        {
            assert_eq!(Claim::of_header(wrong), None, "{wrong}");
        }
        assert_eq!(Claim::of_query("X-Amz-Credential=a"), None);
    }

    #[test]
    fn writes_the_time_of_a_signature() {
        for (seconds, expected) in [
            (0, "19700101T000000Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (1_440_938_160, "20150830T123600Z"),
            (1_798_761_599, "20261231T235959Z"),
        ] {
            assert_eq!(amz_time(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn refuses_keys_that_could_not_be_part_of_a_header() {
        assert!(AwsKey::new(b"AKID", b"a/b+c=", Some(b"token")).is_ok());
        for (id, secret) in [(&b""[..], &b"a"[..]), (b"a/b", b"a"), (b"a b", b"a"), (b"a", b""), (b"a", b"a\nb")] {
            assert!(AwsKey::new(id, secret, None).is_err(), "{id:?}");
        }
    }
}
