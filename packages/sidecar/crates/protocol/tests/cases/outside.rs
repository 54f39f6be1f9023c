//! The messages of the golden frames about connections out of a runtime. `mod.rs` has the macros.

use coldframe_protocol::messages::*;
use coldframe_protocol::{Frame, encode, reader};

use super::{Case, runtime};

/// A policy with every field.
pub fn options() -> OutsideOptions<'static> {
    OutsideOptions {
        outside: Some(OutsideMode::Deny),
        allow: Some(vec!["packages.example.org:443", "*.example.com:443", "tcp://db.example.net:5432"]),
        deny: Some(vec!["uploads.example.com"]),
        private: Some(vec!["10.1.2.0/24:5432"]),
        http: Some(vec![OutsideHttpRule {
            host: "api.example.com",
            methods: Some(vec!["GET"]),
            paths: Some(vec!["/repos/acme/**"]),
            inject: Some(Pairs(vec![("authorization", "Bearer ${KEY}")])),
            handler: Some(OutsideHandler { id: 7, timeout_ms: 30_000 }),
        }]),
        secrets: Some(vec![OutsideSecret {
            name: "KEY",
            placeholder: Some("cfs_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
            hosts: vec!["api.example.com"],
            places: Some(vec!["header:authorization"]),
            insecure: Some(true),
            sign: Some(OutsideSigning { region: Some("eu-central-1"), service: Some("s3") }),
        }]),
        authorities: Some(vec!["-----BEGIN CERTIFICATE-----"]),
        dns_servers: Some(vec!["10.0.0.2", "[fd00::1]:5353"]),
        dns_hosts: Some(vec![OutsideHost { name: "db.test", addresses: vec!["10.1.2.5", "fd00::5"] }]),
        local_address: Some("10.0.0.9"),
        proxy: Some("http://proxy.example:3128"),
        limits: Some(Numbers(vec![("connections", 256), ("bytes", 10_000_000_000)])),
    }
}

fn event(kind: OutsideEventType) -> OutsideEvent<'static> {
    let time_us = 1_700_000_000_123_456;
    let (host, address, port, addresses, rule, pattern) = (None, None, None, None, None, None);
    let (reason, limit, sent, received, duration_us) = (None, None, None, None, None);
    let (method, path, status, secrets, placeholders) = (None, None, None, None, None);
    let mut event = OutsideEvent {
        kind,
        time_us,
        protocol: None,
        host,
        address,
        port,
        addresses,
        rule,
        pattern,
        reason,
        limit,
        sent,
        received,
        dropped: None,
        duration_us,
        method,
        path,
        status,
        secrets,
        placeholders,
    };
    if kind == OutsideEventType::Request {
        event.method = Some("GET");
        event.path = Some("/");
        event.status = Some(200);
        event.secrets = Some(vec!["KEY"]);
        event.placeholders = Some(vec!["OTHER"]);
    }
    event
}

const RULE: Option<&str> = Some("allow[1]");
const PATTERN: Option<&str> = Some("*.example.com:443");

fn flow() -> OutsideFlow<'static> {
    OutsideFlow {
        protocol: OutsideProtocol::Tcp,
        host: Some("a.example.com"),
        address: "203.0.113.7",
        port: 443,
        rule: RULE,
        pattern: PATTERN,
        sent: 1 << 33,
        received: 0,
        dropped: None,
        since_us: 1_700_000_000_123_456,
    }
}

fn udp_flow() -> OutsideFlow<'static> {
    OutsideFlow { protocol: OutsideProtocol::Udp, host: None, rule: None, pattern: None, dropped: Some(3), ..flow() }
}

pub fn add(all: &mut Vec<Case>) {
    sdk!(all, "runtime-create-outside", RuntimeCreate, 2, RuntimeCreate, {
        RuntimeCreate { outside: Some(options()), ..RuntimeCreate::default() }
    });
    sdk!(all, "outside-update", OutsideUpdate, 40, OutsideUpdate, {
        OutsideUpdate { runtime: runtime(1), change: OutsideOptions::default(), clear: None, existing: None }
    });
    sdk!(all, "outside-update-everything", OutsideUpdate, 40, OutsideUpdate, {
        let clear = Some(vec!["dnsServers", "limits.bytes"]);
        OutsideUpdate { runtime: runtime(1), change: options(), clear, existing: Some(OutsideExisting::Keep) }
    });
    sdk!(all, "outside-check", OutsideCheck, 41, OutsideCheck, {
        OutsideCheck { runtime: runtime(1), url: "https://größe.example/", method: Some("POST") }
    });
    sdk!(all, "outside-flows", OutsideFlows, 42, InRuntime, InRuntime { runtime: runtime(1) });
    sdk!(all, "outside-watch", OutsideWatch, 43, OutsideWatch, OutsideWatch { runtime: runtime(1), on: true });
    sdk!(all, "outside-take", OutsideTake, 44, OutsideTake, OutsideTake { runtime: runtime(1), all: Some(true) });
    sdk!(all, "outside-roots", OutsideRoots, 47, OutsideRoots, OutsideRoots { pem: "-----BEGIN CERTIFICATE-----" });
    sdk!(all, "outside-walls", OutsideWalls, 48, InRuntime, InRuntime { runtime: runtime(1) });
    sdk!(all, "secrets-key", SecretsKey, 45, InRuntime, InRuntime { runtime: runtime(1) });
    sdk!(all, "secrets-put", SecretsPut, 46, SecretsPut, {
        SecretsPut { runtime: runtime(1), key: &[7; 32], sealed: &[1, 2, 3] }
    });
    sidecar!(all, "secrets-wanted", SecretsWanted, 0, InRuntime, InRuntime { runtime: runtime(1) });
    reply!(all, "reply-secrets-key", SecretsKey, 45, SecretsKey, SecretsKey { key: Some(&[7; 32]) });
    sidecar!(all, "outside-pending", OutsidePending, 0, OutsidePending, OutsidePending { runtime: runtime(1) });
    reply!(all, "reply-outside-walls", OutsideWalls, 48, OutsideWalls, {
        OutsideWalls { walls: vec![WallPart { name: "seccomp", missing: Some("EPERM".into()) }] }
    });
    reply!(all, "reply-outside-check", OutsideCheck, 41, OutsideVerdict, {
        OutsideVerdict { allowed: false, reason: Some("denied"), rule: RULE, pattern: PATTERN }
    });
    reply!(all, "reply-outside-check-allowed", OutsideCheck, 41, OutsideVerdict, {
        OutsideVerdict { allowed: true, reason: None, rule: None, pattern: None }
    });
    reply!(all, "reply-outside-flows", OutsideFlows, 42, OutsideFlowList, {
        OutsideFlowList { flows: vec![flow(), udp_flow()] }
    });
    reply!(all, "reply-outside-take", OutsideTake, 44, OutsideTaken, {
        let open = OutsideEvent {
            protocol: Some(OutsideProtocol::Tcp),
            address: Some("203.0.113.7"),
            port: Some(443),
            rule: RULE,
            pattern: PATTERN,
            ..event(OutsideEventType::Open)
        };
        let close = OutsideEvent {
            protocol: Some(OutsideProtocol::Udp),
            sent: Some(1),
            received: Some(2),
            dropped: Some(4),
            duration_us: Some(3),
            reason: Some("ECONNRESET"),
            ..event(OutsideEventType::Close)
        };
        let denied = OutsideEvent { host: Some("evil.example"), reason: Some("not-allowed"), ..event(OutsideEventType::Denied) };
        let addresses = Some(vec!["203.0.113.7", "2606:4700::1111"]);
        let dns = OutsideEvent { addresses, ..event(OutsideEventType::Dns) };
        let limit = OutsideEvent { limit: Some("connectsPerSecond"), ..event(OutsideEventType::Limit) };
        OutsideTaken { events: vec![open, close, denied, dns, limit, event(OutsideEventType::Request)], lost: 7 }
    });
}
