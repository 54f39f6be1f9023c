//! The secrets of one request: placeholders in headers and in the query, injected headers, and
//! signatures of AWS. Next: `reply.rs`.
//!
//! The guest signs a request for AWS with a placeholder as the id of its key. The edge removes this
//! signature, and signs the request that it sends. The body is not read: the signature covers the
//! hash that the guest has sent in `x-amz-content-sha256`, or no hash. Chunks with signatures of
//! their own are refused, because their signatures depend on the key.

use super::reply::Refusal;
use coldframe_secrets::{
    Absence, Claim, Credential, Mask, Payload, SecretTable, SigningRequest, SwapFault, Target, Template, Unavailable, amz_now,
    sign,
};
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use zeroize::Zeroizing;

/// The hash of an empty body.
const EMPTY_BODY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const CONTENT_HASH: &str = "x-amz-content-sha256";
const DATE: &str = "x-amz-date";
const SECURITY_TOKEN: &str = "x-amz-security-token";

/// The secrets of one request.
pub struct Credentials<'a> {
    secrets: &'a SecretTable,
    target: Target<'a>,
    /// The names of the used secrets.
    used: Vec<String>,
    /// The sent texts that the response must not repeat.
    values: Vec<Zeroizing<Vec<u8>>>,
    inert: Vec<String>,
}

impl<'a> Credentials<'a> {
    /// Begins with the secrets of a runtime and the destination of a request.
    pub fn new(secrets: &'a SecretTable, target: Target<'a>) -> Self {
        Self { secrets, target, used: Vec::new(), values: Vec::new(), inert: Vec::new() }
    }

    /// Swaps the placeholders in headers, and sets the injected headers.
    ///
    /// # Errors
    /// Returns the refusal of a value that is absent or too long.
    pub fn inject(&mut self, headers: &mut HeaderMap, inject: &[(String, String)]) -> Result<(), Refusal> {
        // The guest's copy of an injected header is removed before placeholders are swapped.
        for (header, _) in inject {
            headers.remove(header.as_str());
        }
        for (header, value) in headers.iter_mut() {
            let swapped = self.secrets.swap(self.target, header.as_str(), value.as_bytes());
            let (swapped, names) = swapped.map_err(|fault| self.refusal(fault))?;
            if let Some(new) = swapped.value {
                // The whole credentials are masked too, because Basic encodes the value.
                self.values.extend(new.split(|byte| *byte == b' ').skip(1).map(|part| Zeroizing::new(part.to_vec())));
                *value = sensitive(&new)?;
                self.used.extend(names.into_iter().map(str::to_owned));
            }
        }
        for (header, template) in inject {
            let template = Template::parse(template).map_err(|_| too_long())?;
            let rendered = template.render(|secret| self.secrets.value(secret, self.target)).map_err(|fault| match fault {
                Unavailable::Secret(secret) => self.absent(&secret),
                Unavailable::TooLong => too_long(),
            })?;
            headers.insert(HeaderName::try_from(header.as_str()).map_err(|_| too_long())?, sensitive(&rendered)?);
            self.used.extend(template.secrets().map(str::to_owned));
        }
        Ok(())
    }

    /// Swaps the placeholders in the fields of the query that are places.
    ///
    /// # Errors
    /// Returns the refusal of a value that is absent or too long.
    pub fn place_in_query(&mut self, query: &mut Option<String>) -> Result<(), Refusal> {
        let Some(text) = query.as_ref().filter(|_| self.secrets.of(self.target).next().is_some()) else { return Ok(()) };
        let mut fields: Vec<String> = Vec::new();
        let mut has_changed = false;
        for field in text.split('&') {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let swapped = self.secrets.swap_field(self.target, name, value.as_bytes());
            let (swapped, names) = swapped.map_err(|fault| self.refusal(fault))?;
            match swapped.value {
                Some(new) => {
                    // The value is encoded, so it has ASCII characters alone.
                    fields.push(format!("{name}={}", String::from_utf8_lossy(&new)));
                    self.values.push(new);
                    self.used.extend(names.into_iter().map(str::to_owned));
                    has_changed = true;
                }
                None => fields.push(field.to_owned()),
            }
        }
        if has_changed {
            *query = Some(fields.join("&"));
        }
        Ok(())
    }

    /// Signs the request if a secret signs it. All other headers and the query are final.
    ///
    /// # Errors
    /// Returns the refusal of a key that is absent, or of a request that cannot be signed.
    pub fn sign(
        &mut self,
        method: &str,
        path: &str,
        query: &mut Option<String>,
        headers: &mut HeaderMap,
        is_empty: bool,
    ) -> Result<(), Refusal> {
        let header = headers.get(AUTHORIZATION).and_then(|value| Claim::of_header(value.to_str().ok()?));
        let url = query.as_deref().and_then(Claim::of_query);
        let claim = header.as_ref().or(url.as_ref().map(|(claim, _)| claim));
        let Some((name, secret, scope)) = self.secrets.signer(self.target, claim) else { return Ok(()) };
        let Some(Credential::Aws(key)) = &secret.value else { return Err(self.absent(name)) };
        let region = scope.region.as_deref().or(claim.map(|claim| claim.region.as_str()));
        let service = scope.service.as_deref().or(claim.map(|claim| claim.service.as_str()));
        let (Some(region), Some(service)) = (region, service) else { return Err(unsignable("a region and a service")) };
        let is_url = header.is_none() && url.is_some();
        if let Some((_, rest)) = &url {
            *query = Some(rest.clone()).filter(|rest| !rest.is_empty());
        }
        for replaced in [AUTHORIZATION.as_str(), DATE, SECURITY_TOKEN] {
            headers.remove(replaced);
        }
        let hash = headers.get(CONTENT_HASH).map(|hash| hash.to_str().unwrap_or_default().to_owned());
        let payload = match &hash {
            Some(hash) => Payload::parse(hash).ok_or_else(|| unsignable("a body without signatures of its chunks"))?,
            // A signed URL covers no body.
            None if is_url && service == "s3" => Payload::Unsigned,
            None if is_empty => Payload::Hash(EMPTY_BODY),
            None => return Err(unsignable("the header x-amz-content-sha256")),
        };
        if hash.is_none() && service == "s3" {
            let text = if is_url { "UNSIGNED-PAYLOAD" } else { EMPTY_BODY };
            headers.insert(CONTENT_HASH, HeaderValue::from_static(text));
        }
        let is_signed = |name: &str| matches!(name, "host" | "content-type" | "content-md5") || name.starts_with("x-amz-");
        let signed: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).filter(|(name, _)| is_signed(name)).collect();
        let (query, time) = (query.as_deref().unwrap_or_default(), amz_now());
        let request = SigningRequest { method, path, query, headers: &signed, payload, region, service, time: &time };
        let signed = sign(key, &request).map_err(|fault| unsignable(&fault.to_string()))?;
        if let Some(token) = &signed.security_token {
            headers.insert(SECURITY_TOKEN, sensitive(token.expose())?);
            self.values.push(Zeroizing::new(token.expose().to_vec()));
        }
        headers.insert(AUTHORIZATION, sensitive(signed.authorization.as_bytes())?);
        headers.insert(DATE, sensitive(signed.date.as_bytes())?);
        self.used.push(name.to_owned());
        Ok(())
    }

    /// Searches placeholders that stay in the request.
    pub fn find_inert(&mut self, headers: &HeaderMap, path: &str, query: Option<&str>) {
        if self.secrets.is_empty() {
            return;
        }
        let texts = headers.values().filter_map(|value| value.to_str().ok()).chain([path]).chain(query);
        self.inert = texts.flat_map(|text| self.secrets.named_in(text)).map(str::to_owned).collect();
        self.inert.sort_unstable();
        self.inert.dedup();
    }

    /// Returns the mask of the response, the names of the used secrets, and the names of the
    /// secrets whose placeholder has no effect.
    pub fn finish(mut self) -> (Mask, Vec<String>, Vec<String>) {
        self.used.sort_unstable();
        self.used.dedup();
        let exact = self.used.iter().filter_map(|secret| self.secrets.value(secret, self.target)).map(|value| value.expose());
        let mask = Mask::new(exact.chain(self.values.iter().map(|value| value.as_slice())));
        (mask, self.used, self.inert)
    }

    fn refusal(&self, fault: SwapFault<'_>) -> Refusal {
        match fault {
            SwapFault::Missing(secret) => self.absent(secret),
            SwapFault::TooLong => too_long(),
        }
    }

    fn absent(&self, secret: &str) -> Refusal {
        match self.secrets.absence(secret) {
            Absence::Missing => Refusal::denied("secret-missing", Some(secret.to_owned())),
            Absence::Pending | Absence::Unavailable => Refusal::secret_unavailable(secret),
        }
    }
}

fn too_long() -> Refusal {
    Refusal::denied("secret-too-long", None)
}

fn unsignable(expected: &str) -> Refusal {
    Refusal::denied("unsignable", Some(expected.to_owned()))
}

/// Makes the value of a header that no log prints.
fn sensitive(bytes: &[u8]) -> Result<HeaderValue, Refusal> {
    let mut value = HeaderValue::from_bytes(bytes).map_err(|_| too_long())?;
    value.set_sensitive(true);
    Ok(value)
}
