//! Converts the options of connections out of a runtime. Next: `outside.rs`.

use coldframe_core as core;
use coldframe_core::{Change, Error, LimitsChange, OptionsChange};
use coldframe_protocol::messages::{OutsideHost, OutsideHttpRule, OutsideMode, OutsideOptions, OutsideSecret};

/// The number of seconds of new connections that a burst may have.
const BURST_SECONDS: u32 = 4;

/// Converts the options of a new runtime.
pub(crate) fn options(given: &OutsideOptions<'_>) -> Result<core::OutsideOptions, Error> {
    Ok(core::OutsideOptions::default().changed(&change(given, &[])?))
}

/// Converts a change. `clear` has the fields that have their defaults again.
pub(crate) fn change(given: &OutsideOptions<'_>, clear: &[&str]) -> Result<OptionsChange, Error> {
    let mode = given.outside.map(|mode| match mode {
        OutsideMode::Deny => core::OutsideMode::Deny,
        OutsideMode::Public => core::OutsideMode::Public,
    });
    let mut change = OptionsChange {
        outside: replaced(mode),
        allow: replaced(texts(given.allow.as_deref())),
        deny: replaced(texts(given.deny.as_deref())),
        private: replaced(texts(given.private.as_deref())),
        http: replaced(given.http.as_ref().map(|rules| rules.iter().map(http_rule).collect())),
        secrets: replaced(given.secrets.as_ref().map(|secrets| secrets.iter().map(secret).collect())),
        authorities: replaced(texts(given.authorities.as_deref())),
        dns_servers: replaced(texts(given.dns_servers.as_deref())),
        dns_hosts: replaced(given.dns_hosts.as_ref().map(|hosts| hosts.iter().map(host).collect())),
        local_address: replaced(given.local_address.map(|text| Some(text.to_owned()))),
        proxy: replaced(given.proxy.map(|text| Some(text.to_owned()))),
        limits: LimitsChange::default(),
    };
    for (name, value) in given.limits.iter().flat_map(|limits| &limits.0) {
        set_limit(&mut change.limits, name, *value)?;
    }
    for field in clear {
        match *field {
            "outside" => change.outside = Change::Clear,
            "allow" => change.allow = Change::Clear,
            "deny" => change.deny = Change::Clear,
            "private" => change.private = Change::Clear,
            "http" => change.http = Change::Clear,
            "secrets" => change.secrets = Change::Clear,
            "authorities" => change.authorities = Change::Clear,
            "dnsServers" => change.dns_servers = Change::Clear,
            "dnsHosts" => change.dns_hosts = Change::Clear,
            "localAddress" => change.local_address = Change::Clear,
            "proxy" => change.proxy = Change::Clear,
            "limits" => {
                change.limits = LimitsChange {
                    connections: Change::Clear,
                    connecting: Change::Clear,
                    connects_per_second: Change::Clear,
                    connects_burst: Change::Clear,
                    bytes_per_second: Change::Clear,
                    bytes: Change::Clear,
                }
            }
            field => clear_limit(&mut change.limits, field)?,
        }
    }
    Ok(change)
}

fn replaced<T>(value: Option<T>) -> Change<T> {
    value.map_or(Change::Leave, Change::Replace)
}

fn texts(texts: Option<&[&str]>) -> Option<Vec<String>> {
    texts.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect())
}

fn http_rule(rule: &OutsideHttpRule<'_>) -> core::HttpRule {
    let header = |(name, value): &(&str, &str)| core::InjectedHeader { name: (*name).to_owned(), value: (*value).to_owned() };
    core::HttpRule {
        host: rule.host.to_owned(),
        methods: texts(rule.methods.as_deref()),
        paths: texts(rule.paths.as_deref()),
        inject: rule.inject.iter().flat_map(|pairs| &pairs.0).map(header).collect(),
        handler: rule.handler.as_ref().map(|handler| core::Handler { id: handler.id, timeout_ms: handler.timeout_ms }),
    }
}

fn secret(secret: &OutsideSecret<'_>) -> core::SecretEntry {
    core::SecretEntry {
        name: secret.name.to_owned(),
        placeholder: secret.placeholder.map(str::to_owned),
        hosts: texts(Some(&secret.hosts)).unwrap_or_default(),
        places: texts(secret.places.as_deref()),
        insecure: secret.insecure == Some(true),
        sign: secret
            .sign
            .as_ref()
            .map(|sign| core::SigningEntry { region: sign.region.map(str::to_owned), service: sign.service.map(str::to_owned) }),
    }
}

fn host(host: &OutsideHost<'_>) -> core::DnsHost {
    let addresses = host.addresses.iter().map(|address| (*address).to_owned()).collect();
    core::DnsHost { name: host.name.to_owned(), addresses }
}

fn set_limit(limits: &mut LimitsChange, name: &str, value: u64) -> Result<(), Error> {
    // A number that is too large for the field is above every bound too.
    let number = u32::try_from(value).unwrap_or(u32::MAX);
    match name {
        "connections" => limits.connections = Change::Replace(number),
        "connecting" => limits.connecting = Change::Replace(number),
        "connectsPerSecond" => {
            limits.connects_per_second = Change::Replace(number);
            limits.connects_burst = Change::Replace(number.saturating_mul(BURST_SECONDS));
        }
        "bytesPerSecond" => limits.bytes_per_second = Change::Replace(value),
        "bytes" => limits.bytes = Change::Replace(Some(value)),
        name => return Err(unknown("the name of a limit of connections", name)),
    }
    Ok(())
}

fn clear_limit(limits: &mut LimitsChange, field: &str) -> Result<(), Error> {
    match field {
        "limits.connections" => limits.connections = Change::Clear,
        "limits.connecting" => limits.connecting = Change::Clear,
        "limits.connectsPerSecond" => (limits.connects_per_second, limits.connects_burst) = (Change::Clear, Change::Clear),
        "limits.bytesPerSecond" => limits.bytes_per_second = Change::Clear,
        "limits.bytes" => limits.bytes = Change::Clear,
        field => return Err(unknown("a field of the options", field)),
    }
    Ok(())
}

fn unknown(expected: &str, received: &str) -> Error {
    let received = received.chars().take(100).collect::<String>();
    Error::InvalidRequest { what: "network".to_owned(), expected: expected.to_owned(), received: format!("{received:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coldframe_protocol::messages::Numbers;

    #[test]
    fn a_change_leaves_clears_and_replaces_fields() {
        let limits = Some(Numbers(vec![("connectsPerSecond", 10), ("connections", 1 << 40)]));
        let given = OutsideOptions { allow: Some(vec!["a.example"]), limits, ..OutsideOptions::default() };
        let first = options(&given).unwrap();
        assert_eq!(first.allow, ["a.example"]);
        assert_eq!((first.limits.connects_per_second, first.limits.connects_burst, first.limits.connections), (10, 40, u32::MAX));
        let second = OutsideOptions { deny: Some(vec!["b.example"]), ..OutsideOptions::default() };
        let changed = first.changed(&change(&second, &["allow", "limits.connectsPerSecond"]).unwrap());
        assert_eq!((changed.allow.len(), changed.deny.len()), (0, 1));
        assert_eq!((changed.limits.connects_per_second, changed.limits.connections), (50, u32::MAX));
        let cleared = changed.changed(&change(&OutsideOptions::default(), &["limits", "deny"]).unwrap());
        assert_eq!(cleared, core::OutsideOptions::default());
        assert!(change(&OutsideOptions::default(), &["unknown"]).is_err());
        let unknown = OutsideOptions { limits: Some(Numbers(vec![("udp", 1)])), ..OutsideOptions::default() };
        assert!(options(&unknown).is_err());
    }
}
