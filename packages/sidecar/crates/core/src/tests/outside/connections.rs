//! `net` and `http` of guests.

use super::*;

const ERROR: &str =
    "const show = (e) => console.log([e.code, e.errno, e.syscall, e.address, e.port, e.permission, e.reason, e.rule].join(' '));";

#[test]
fn a_guest_connects_writes_and_reads_and_sees_both_addresses() {
    let world = World::new(&core());
    let code = r"
        import net from 'node:net';
        const socket = net.connect(7, '203.0.113.1');
        socket.on('connect', () => {
            console.log(socket.localAddress, socket.localPort, socket.remoteAddress, socket.remotePort, socket.remoteFamily);
            socket.setNoDelay().setKeepAlive(true).end('question');
        });
        for await (const chunk of socket) console.log(String(chunk));
        console.log('end');";
    assert_eq!(world.run(code), "10.0.0.7 40000 203.0.113.1 7 IPv4\nquestion\nend");
    assert_eq!(world.stop(), ["connect 203.0.113.1:7", "close 1 end"]);
}

#[test]
fn half_open_connections_continue_in_each_direction() {
    let world = World::new(&core());
    let code = r"
        import net from 'node:net';
        import { once } from 'node:events';
        // The server ends first.
        const one = net.connect({ port: 13, host: '203.0.113.1', allowHalfOpen: true });
        for await (const chunk of one) console.log(String(chunk));
        console.log(one.readyState, one.writable);
        one.end('late');
        await once(one, 'close');
        // The guest ends first, and the server replies after the end.
        const other = net.connect(86, '203.0.113.1');
        other.end(Buffer.alloc(3_000_000));
        for await (const chunk of other) console.log(String(chunk));";
    assert_eq!(world.run(code), "a time\nwriteOnly true\n3000000 bytes");
    assert_eq!(world.stop(), ["connect 203.0.113.1:13", "close 1 end", "connect 203.0.113.1:86", "close 2 end"]);
}

#[test]
fn large_transfers_are_complete_in_both_directions() {
    let world = World::new(&core());
    let code = r"
        import net from 'node:net';
        import { createHash, randomBytes } from 'node:crypto';
        const sent = randomBytes(5_000_000), hash = (bytes) => createHash('sha256').update(bytes).digest('hex');
        const socket = net.connect(7, '203.0.113.1');
        socket.end(sent);
        const parts = [];
        for await (const part of socket) parts.push(part);
        console.log(hash(Buffer.concat(parts)) === hash(sent));";
    assert_eq!(world.run(code), "true");
}

#[test]
fn errors_name_their_cause_and_a_refusal_has_its_reason() {
    let world = World::new(&core());
    let code = format!(
        "import net from 'node:net'; {ERROR}
        for (const port of [81, 82, 83, 84]) await new Promise((done) => {{
            net.connect(port, '203.0.113.1').on('error', show).on('close', done);
        }});
        const socket = net.connect(85, '203.0.113.1', () => socket.write('x')).on('error', show);"
    );
    let expected = [
        "ECONNREFUSED -111 connect 203.0.113.1 81   ",
        "EHOSTUNREACH -113 connect 203.0.113.1 82   ",
        "EACCES -13 connect 203.0.113.1 83 network.connect denied deny[1]",
        "ENOBUFS -105 connect 203.0.113.1 84  limit ",
        "ECONNRESET -104 read     ",
    ];
    assert_eq!(world.run(&code).lines().map(str::trim_end).collect::<Vec<_>>(), expected.map(str::trim_end));
    let code = "import net from 'node:net'; net.connect(83, '203.0.113.1').on('error', (e) => console.log(e.message))";
    let expected =
        "connect EACCES 203.0.113.1:83 (the permission network.connect is denied by the rule network.deny[1]: no rule allows it)";
    assert_eq!(world.run(code), expected);
}

#[test]
fn reset_and_destroy_resets_the_peer_and_destroy_does_not() {
    let world = World::new(&core());
    let code = r"
        import net from 'node:net';
        import { once } from 'node:events';
        for (const way of ['resetAndDestroy', 'destroy']) {
            const socket = net.connect(7, '203.0.113.1');
            await once(socket, 'connect');
            socket[way]();
            await once(socket, 'close');
        }
        const waiting = net.connect(9, '203.0.113.1').on('error', (e) => console.log(e.message));
        setImmediate(() => waiting.destroy());";
    assert_eq!(world.run(code), "");
    let log = world.stop();
    let closes: Vec<_> = log.iter().filter(|line| line.starts_with("close")).collect();
    assert_eq!(closes, ["close 1 reset", "close 2 end", "close 3 reset"]);
}

#[test]
fn a_name_with_two_families_connects_to_the_address_that_replies() {
    let world = World::new(&core());
    let code = r"
        import net from 'node:net';
        const socket = net.connect(7, 'both.example', () => {
            console.log(socket.remoteAddress, socket.autoSelectFamilyAttemptedAddresses);
            socket.end();
        });";
    assert_eq!(world.run(code), "203.0.113.1 [ '2001:db8::1:7', '203.0.113.1:7' ]");
    assert_eq!(world.stop(), ["connect [2001:db8::1]:7", "close 1 reset", "connect 203.0.113.1:7", "close 2 end"]);
}

#[test]
fn http_and_fetch_reach_a_server_by_name() {
    let world = World::new(&core());
    let code = r"
        import http from 'node:http';
        console.log(await (await fetch('http://four.example/')).text());
        const agent = new http.Agent({ keepAlive: true });
        for (let i = 0; i < 3; i++) await new Promise((done) => {
            const print = (part) => console.log(String(part));
            http.get('http://four.example/', { agent }, (answer) => answer.on('data', print).on('end', done));
        });
        agent.destroy();
        for (const name of ['denied.test', 'nothing.example']) {
            const { cause } = await fetch(`http://${name}/`).catch((error) => error);
            console.log(cause.code, cause.permission, cause.reason);
        }
        process.exit();";
    assert_eq!(world.run(code), "ok\nok\nok\nok\nENOTFOUND network.dns not-allowed\nENOTFOUND undefined undefined");
    let connects = world.stop().iter().filter(|line| line.starts_with("connect")).count();
    assert_eq!(connects, 2, "the agent uses one connection");
}
