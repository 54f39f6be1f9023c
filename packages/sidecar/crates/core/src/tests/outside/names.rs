//! `dns` of guests. The results have the shapes of Node.

use super::*;

#[test]
fn lookups_return_the_addresses_in_the_asked_form() {
    let world = World::new(&core());
    let code = r"
        import dns from 'node:dns';
        const { lookup } = dns.promises;
        const show = (value) => console.log(JSON.stringify(value));
        show(await lookup('four.example'));
        show(await lookup('both.example', { all: true }));
        show(await lookup('both.example', { all: true, order: 'ipv4first' }));
        show(await lookup('both.example', { family: 4 }));
        show(await lookup('six.example', { family: 6 }));
        show(await lookup('four.example', { family: 6, hints: dns.V4MAPPED }));
        show(await lookup('both.example', { family: 6, hints: dns.V4MAPPED | dns.ALL, all: true }));
        show(await lookup('bücher.example'));
        dns.lookup('four.example', (error, address, family) => show([error, address, family]));";
    let expected = [
        r#"{"address":"203.0.113.1","family":4}"#,
        r#"[{"address":"2001:db8::1","family":6},{"address":"203.0.113.1","family":4}]"#,
        r#"[{"address":"203.0.113.1","family":4},{"address":"2001:db8::1","family":6}]"#,
        r#"{"address":"203.0.113.1","family":4}"#,
        r#"{"address":"2001:db8::2","family":6}"#,
        r#"{"address":"::ffff:203.0.113.1","family":6}"#,
        r#"[{"address":"2001:db8::1","family":6},{"address":"::ffff:203.0.113.1","family":6}]"#,
        r#"{"address":"203.0.113.9","family":4}"#,
        r#"[null,"203.0.113.1",4]"#,
    ];
    assert_eq!(world.run(code).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_failed_lookup_has_the_code_of_node_and_a_refusal_its_reason() {
    let world = World::new(&core());
    let code = r"
        import { lookup, resolve4 } from 'node:dns/promises';
        const show = (e) => console.log(e.code, e.errno, e.syscall, e.hostname, e.permission, e.reason, e.message);
        for (const name of ['nothing.example', 'later.example', 'denied.test', 'host.invalid']) await lookup(name).catch(show);
        await lookup('four.example', { family: 6 }).catch(show);
        await resolve4('nothing.example').catch(show);";
    let expected = [
        "ENOTFOUND -3008 getaddrinfo nothing.example undefined undefined getaddrinfo ENOTFOUND nothing.example",
        "EAI_AGAIN -3001 getaddrinfo later.example undefined undefined getaddrinfo EAI_AGAIN later.example",
        concat!(
            "ENOTFOUND -3008 getaddrinfo denied.test network.dns not-allowed getaddrinfo ENOTFOUND denied.test ",
            "(the permission network.dns is denied by the option network: no rule allows denied.test)"
        ),
        "ENOTFOUND -3008 getaddrinfo host.invalid undefined undefined getaddrinfo ENOTFOUND host.invalid",
        "ENOTFOUND -3007 getaddrinfo four.example undefined undefined getaddrinfo ENOTFOUND four.example",
        "ENODATA undefined queryA nothing.example undefined undefined queryA ENODATA nothing.example",
    ];
    assert_eq!(world.run(code).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn queries_return_the_records_in_the_shapes_of_node() {
    let world = World::new(&core());
    let code = r"
        import dns from 'node:dns';
        const resolver = new dns.promises.Resolver();
        const show = (value) => console.log(JSON.stringify(value));
        show(await resolver.resolve4('four.example'));
        show(await resolver.resolve4('four.example', { ttl: true }));
        show(await resolver.resolve('four.example', 'MX'));
        show(await resolver.resolveTxt('four.example'));
        show(await resolver.resolveSrv('_db._tcp.example'));
        show(await resolver.resolveSoa('four.example'));
        const [tlsa] = await resolver.resolveTlsa('four.example');
        show([tlsa.certUsage, tlsa.data instanceof ArrayBuffer, ...new Uint8Array(tlsa.data)]);
        show(await resolver.reverse('203.0.113.1'));
        show(await dns.promises.lookupService('203.0.113.1', 443));
        show((await dns.promises.lookupService('203.0.113.77', 80).catch((e) => e)).code);
        show((await resolver.resolve4('broken.example').catch((e) => e)).code);
        dns.resolve('four.example', (error, addresses) => show([error, addresses]));";
    let expected = [
        r#"["203.0.113.1","203.0.113.2"]"#,
        r#"[{"address":"203.0.113.1","ttl":60},{"address":"203.0.113.2","ttl":61}]"#,
        r#"[{"exchange":"mx.example","priority":10}]"#,
        r#"[["v=spf1"," -all"]]"#,
        r#"[{"name":"db.example","port":27017,"priority":1,"weight":2}]"#,
        r#"{"nsname":"ns.example","hostmaster":"h.example","serial":1,"refresh":2,"retry":3,"expire":4,"minttl":5}"#,
        "[3,true,1,2,255]",
        r#"["four.example"]"#,
        r#"{"hostname":"four.example","service":"https"}"#,
        r#""ENOTFOUND""#,
        r#""EBADRESP""#,
        r#"[null,["203.0.113.1","203.0.113.2"]]"#,
    ];
    assert_eq!(world.run(code).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_cancelled_query_fails_and_servers_of_the_loopback_are_refused() {
    let world = World::new(&core());
    let code = r"
        import dns from 'node:dns';
        const { promises } = dns;
        const resolver = new promises.Resolver();
        const waiting = [resolver.resolve4('hangs.example'), resolver.resolveMx('hangs.example')];
        setTimeout(() => resolver.cancel(), 1);
        console.log((await Promise.allSettled(waiting)).map(({ reason }) => reason.code).join());
        dns.setServers(['8.8.8.8', '[2001:4860::8888]:53']);
        console.log(dns.getServers().join());
        console.log((await promises.resolve4('four.example')).join());
        resolver.setServers(['127.0.0.1:5353']);
        console.log((await resolver.resolve4('four.example').catch((e) => e)).code);
        console.log((await promises.resolve4('localhost').catch((e) => e)).code);";
    let expected = "ECANCELLED,ECANCELLED\n8.8.8.8,2001:4860::8888\n203.0.113.1,203.0.113.2\nECONNREFUSED\nECONNREFUSED";
    assert_eq!(world.run(code), expected);
    assert_eq!(world.stop(), ["cancel 1", "cancel 2"]);
}

#[test]
fn a_program_that_ends_cancels_its_lookups_and_closes_its_flows() {
    let world = World::new(&core());
    let code = r"
        import dns from 'node:dns';
        import net from 'node:net';
        dns.resolve4('hangs.example', () => {});
        net.connect(9, '203.0.113.1');
        setTimeout(() => process.exit(), 1);";
    world.run(code);
    let mut log = world.stop();
    log.sort();
    assert_eq!(log, ["cancel 1", "close 1 reset", "connect 203.0.113.1:9"]);
}
