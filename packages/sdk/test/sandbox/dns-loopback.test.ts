// Queries of a program to DNS servers on the runtime's own loopback: UDP and TCP, hostile messages,
// further servers, timeouts, cancellation and the permission. The servers run in the runtime.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';

// Makes DNS messages. `respond(query, records, flags)` returns the response to a query. A record is
// `[type, data]`, and its name is a pointer to the name in the query.
const SERVER = `
  import dgram from 'node:dgram';
  import dns from 'node:dns';
  import net from 'node:net';
  import { once } from 'node:events';
  const name = (text) => Buffer.concat([...text.split('.').map((label) =>
    Buffer.concat([Buffer.of(label.length), Buffer.from(label)])), Buffer.of(0)]);
  const u16 = (...values) => Buffer.concat(values.map((value) => Buffer.of(value >> 8, value & 255)));
  const respond = (query, answers, flags = 0x8180) => {
    const head = Buffer.concat([query.subarray(0, 2), u16(flags, 1, answers.length, 0, 0), query.subarray(12)]);
    const records = answers.map(([type, data]) => [u16(0xc00c, type, 1, 0, 60, data.length), data]);
    return Buffer.concat([head, ...records.flat()]);
  };
  const A = [1, Buffer.of(192, 0, 2, 7)];
  const udp = async (onQuery, port = 0) => {
    const socket = dgram.createSocket('udp4');
    socket.count = 0;
    socket.on('message', (query, { port, address }) => {
      socket.count++;
      for (const message of [onQuery(query, socket.count)].flat().filter(Boolean)) socket.send(message, port, address);
    });
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    socket.server = '127.0.0.1:' + socket.address().port;
    return socket;
  };
  const resolverOf = (options, ...servers) => {
    const resolver = new dns.promises.Resolver(options);
    resolver.setServers(servers);
    return resolver;
  };
  const codeOf = (promise) => promise.then(JSON.stringify, ({ code }) => code);
`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(`${SERVER}\n${code}`, { timeout: 20_000 });
  return stderr === '' ? stdout.trim() : `${stdout}${stderr}`;
}

describe.each(MODES)('$name', (mode) => {
  test('reads every type of record from a server on the loopback', async () => {
    await withRuntime(mode, {}, async (runtime) => {
      const code = `
        const text = (value) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
        const answers = {
          1: A[1], 2: name('ns.example'),
          6: Buffer.concat([name('ns.example'), name('admin.example'), u16(0, 1, 0, 2, 0, 3, 0, 4, 0, 5)]),
          12: name('host.example'), 15: Buffer.concat([u16(10), name('mx.example')]),
          16: Buffer.concat([text('one'), text('two')]),
          28: Buffer.from('20010db8000000000000000000000001', 'hex'), 33: Buffer.concat([u16(1, 2, 443), name('srv.example')]),
          35: Buffer.concat([u16(1, 2), text('s'), text('x'), text(''), name('naptr.example')]),
          52: Buffer.from('03010100ff', 'hex'), 257: Buffer.concat([Buffer.of(128), text('issue'), Buffer.from('ca.example')]),
        };
        const server = await udp((query) => {
          const type = query.readUInt16BE(query.length - 4);
          const wanted = type === 255 ? Object.keys(answers) : [type];
          return respond(query, wanted.map((type) => [Number(type), answers[type]]));
        });
        const resolver = resolverOf({}, server.server);
        for (const kind of ['4', '6', 'Ns', 'Soa', 'Mx', 'Txt', 'Srv', 'Naptr', 'Caa', 'Tlsa']) {
          console.log(kind, JSON.stringify(await resolver['resolve' + kind]('a.example')));
        }
        console.log((await resolver.resolveAny('a.example')).map(({ type }) => type).join(' '));
        console.log(await resolver.reverse('192.0.2.7'), await resolver.reverse('127.0.0.1'));
        server.close();`;
      expect(await output(runtime, code)).toBe(
        [
          '4 ["192.0.2.7"]',
          '6 ["2001:db8::1"]',
          'Ns ["ns.example"]',
          'Soa {"nsname":"ns.example","hostmaster":"admin.example","serial":1,"refresh":2,"retry":3,"expire":4,"minttl":5}',
          'Mx [{"priority":10,"exchange":"mx.example"}]',
          'Txt [["one","two"]]',
          'Srv [{"priority":1,"weight":2,"port":443,"name":"srv.example"}]',
          'Naptr [{"flags":"s","service":"x","regexp":"","replacement":"naptr.example","order":1,"preference":2}]',
          'Caa [{"critical":128,"issue":"ca.example"}]',
          'Tlsa [{"certUsage":3,"selector":1,"match":1,"data":{}}]',
          'A AAAA MX NS TXT SRV PTR NAPTR SOA CAA TLSA',
          "[ 'host.example' ] [ 'localhost' ]",
        ].join('\n'),
      );
    });
  });

  test('asks over TCP if the response is truncated', async () => {
    await withRuntime(mode, {}, async (runtime) => {
      const code = `
        const server = await udp((query) => respond(query, [], 0x8380));
        const tcp = net.createServer((socket) => socket.once('data', (data) => {
          const response = respond(data.subarray(2), Array.from({ length: 5000 }, () => A).slice(0, 4000));
          // Two writes, so that the length and the message arrive in parts.
          const whole = Buffer.concat([u16(response.length), response]);
          socket.write(whole.subarray(0, 1), () => socket.end(whole.subarray(1)));
        }));
        tcp.listen(server.address().port, '127.0.0.1');
        await once(tcp, 'listening');
        console.log((await resolverOf({}, server.server).resolve4('a.example')).length, server.count);
        server.close();
        tcp.close();`;
      expect(await output(runtime, code)).toBe('4000 1');
    });
  });

  test('ignores messages that are no response to the query', async () => {
    await withRuntime(mode, {}, async (runtime) => {
      const code = `
        const change = (message, at, ...bytes) => { const copy = Buffer.from(message); copy.set(bytes, at); return copy; };
        const server = await udp((query) => {
          const good = respond(query, [A]);
          const other = respond(query, [[1, Buffer.of(6, 6, 6, 6)]]);
          const end = query.length;
          return [
            change(other, 0, other[0] ^ 1),          // another id
            change(other, 2, 0x01),                  // a query
            change(other, 13, 'b'.charCodeAt(0)),    // another name
            change(other, end - 3, 28),              // another type
            change(other, 7, 2),                     // more records than the message has
            change(other, end, 0xc0, end),           // a name that points to itself
            change(other, end, 0xff, 0xff),          // a name that points behind the message
            change(other, end + 10, 0xff, 0xff),     // a record longer than the message
            change(other, end + 11, 3),              // an address of three bytes
            other.subarray(0, 11), Buffer.alloc(0),
            ...Array.from({ length: 40 }, (_, i) => other.subarray(0, 12 + i)).filter(({ length }) => length < other.length),
            good,
          ];
        });
        console.log(await resolverOf({}, server.server).resolve4('a.example'));
        server.close();`;
      expect(await output(runtime, code)).toBe("[ '192.0.2.7' ]");
    });
  });

  test('asks the next server after a refusal or a timeout, and reports the code of a response', async () => {
    await withRuntime(mode, {}, async (runtime) => {
      const code = `
        const good = await udp((query) => respond(query, [A]));
        const silent = await udp(() => undefined);
        const closed = await udp(() => undefined);
        closed.close();
        const options = { timeout: 50, tries: 2 };
        console.log(await codeOf(resolverOf(options, closed.server, good.server).resolve4('a.example')));
        console.log(await codeOf(resolverOf(options, silent.server, good.server).resolve4('a.example')));
        console.log(await codeOf(resolverOf(options, closed.server).resolve4('a.example')));
        silent.count = 0;
        console.log(await codeOf(resolverOf(options, silent.server).resolve4('a.example')), silent.count);
        for (let code = 1; code < 7; code++) {
          const failing = await udp((query) => respond(query, [], 0x8180 + code));
          console.log(await codeOf(resolverOf(options, failing.server, good.server).resolve4('a.example')));
          failing.close();
        }
        const empty = await udp((query) => respond(query, []));
        console.log(await codeOf(resolverOf(options, empty.server).resolve4('a.example')));
        console.log(await codeOf(resolverOf(options, good.server).resolve4('a..example')));
        console.log(await codeOf(resolverOf(options, good.server).resolve4('x'.repeat(64) + '.example')));
        for (const socket of [good, silent, empty]) socket.close();`;
      const codes = ['EFORMERR', 'ESERVFAIL', 'ENOTFOUND', 'ENOTIMP', 'EREFUSED', 'ESERVFAIL', 'ENODATA', 'EBADNAME', 'EBADNAME'];
      const expected = ['["192.0.2.7"]', '["192.0.2.7"]', 'ECONNREFUSED', 'ETIMEOUT 2', ...codes];
      expect(await output(runtime, code)).toBe(expected.join('\n'));
    });
  });

  test('cancels queries, and keeps the servers while queries are pending', async () => {
    await withRuntime(mode, {}, async (runtime) => {
      const code = `
        const resolver = new dns.promises.Resolver();
        const silent = await udp(() => void setImmediate(() => resolver.cancel()));
        resolver.setServers([silent.server]);
        const pending = codeOf(resolver.resolve4('a.example'));
        try { resolver.setServers(['127.0.0.1:9']); } catch ({ code }) { console.log(code); }
        console.log(await pending);
        resolver.setServers(['127.0.0.1:9']);
        console.log(resolver.getServers());
        silent.close();`;
      expect(await output(runtime, code)).toBe("ERR_DNS_SET_SERVERS_FAILED\nECANCELLED\n[ '127.0.0.1:9' ]");
    });
  });

  test('needs the permission, and leaves other servers to the resolvers outside', async () => {
    const code = `
      console.log(await codeOf(resolverOf({}, '127.0.0.1:5353').resolve4('a.example')));
      console.log(await codeOf(resolverOf({}, '8.8.8.8').resolve4('a.example')));
      console.log(await codeOf(resolverOf({ timeout: 10, tries: 1 }, '127.0.0.1:5353', '8.8.8.8').resolve4('a.example')));
      console.log(await codeOf(resolverOf({}, '127.0.0.1:5353').resolve4('a.onion')));`;
    await withRuntime(mode, { permissions: { network: 'deny' } }, async (runtime) => {
      expect(await output(runtime, code)).toBe('EACCES\nEACCES\nEACCES\nENOTFOUND');
    });
    await withRuntime(mode, {}, async (runtime) => {
      expect(await output(runtime, code)).toBe('ECONNREFUSED\nEACCES\nEACCES\nENOTFOUND');
    });
  });
});

test('a program ends although a socket without activity has a timeout', async () => {
  await withRuntime(MODES[0] as (typeof MODES)[number], {}, async (runtime) => {
    const code = `import net from 'node:net'; new net.Socket().setTimeout(600_000); console.log('end');`;
    expect((await runtime.exec(code, { timeout: 20_000 })).stdout).toBe('end\n');
  });
});
