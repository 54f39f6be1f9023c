// The ends of TLS connections inside a runtime: bytes that are in the session when a stream closes.

import { expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

usePrivateStoreFolder();

const HEAD = `
  import net from 'node:net'; import tls from 'node:tls'; import { once } from 'node:events';
  const ca = ${JSON.stringify(AUTHORITY)};
  const identity = { cert: ${JSON.stringify(CERTIFICATE)}, key: ${JSON.stringify(KEY)} };
  const listen = async (options, listener) => {
    const server = tls.createServer({ ...identity, ...options }, listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, port: server.address().port };
  };
  const textOf = async (socket) => { let text = ''; for await (const chunk of socket) text += chunk; return text; };
`;

/** Runs a program, and expects its lines. */
const inside = (name: string, code: string, lines: readonly string[]): void => {
  test(name, () =>
    withRuntime(MODES[0] as (typeof MODES)[number], { network: {} }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(HEAD + code, { timeout: 20_000 });
      expect((stdout + stderr).trim().split('\n')).toEqual(lines);
    }),
  );
};

inside(
  'sends the bytes that a program writes before it destroys the socket',
  `
    const { server, port } = await listen({}, (socket) => {
      socket.on('data', () => { socket.write('last'); socket.destroy(); });
    });
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
      const socket = tls.connect({ port, ca, servername: 'localhost', maxVersion });
      socket.write('x');
      console.log(await textOf(socket));
    }
    server.close();`,
  ['last', 'last'],
);

inside(
  'receives the bytes before the end of a stream that closes itself',
  `
    const { server, port } = await listen({}, (socket) => socket.end('all'));
    const below = new net.Socket();
    const above = tls.connect({ socket: below, ca, servername: 'localhost' });
    below.connect(port, '127.0.0.1');
    console.log(await textOf(above), above.destroyed, below.destroyed);
    server.close();`,
  ['all true true'],
);

// The bytes and the end of a stream arrive in every order, which the program decides. In Node, each
// order prints the same line.
inside(
  'receives the bytes and destroys the stream below in every order of bytes and end',
  `
    import { Duplex } from 'node:stream'; import { setImmediate } from 'node:timers/promises';
    const turns = async (count) => { for (let i = 0; i < count; i++) await setImmediate(); };
    const orders = {
      'bytes alone': (below, bytes) => below.push(bytes),
      'end at once': (below, bytes) => { below.push(bytes); below.push(null); },
      'end in the next turn': async (below, bytes) => { below.push(bytes); await turns(1); below.push(null); },
      'end after some turns': async (below, bytes) => { below.push(bytes); await turns(20); below.push(null); },
      'close at once': (below, bytes) => { below.push(bytes); below.destroy(); },
      'end and close at once': (below, bytes) => { below.push(bytes); below.push(null); below.destroy(); },
      'close in the next turn': async (below, bytes) => { below.push(bytes); await turns(1); below.destroy(); },
      'a byte in each turn': async (below, bytes) => {
        for (const byte of bytes) { below.push(Buffer.from([byte])); await turns(1); }
        below.push(null);
      },
    };
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
      for (const [name, deliver] of Object.entries(orders)) {
        let answer;
        const { server, port } = await listen({ maxVersion }, (socket) => { answer = () => socket.end('all'); });
        const raw = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
        let held;
        const below = new Duplex({
          allowHalfOpen: false,
          read() {},
          write(chunk, encoding, done) { raw.write(chunk, done); },
          final(done) { raw.end(done); },
          destroy(error, done) { raw.end(); done(error); },
        });
        raw.on('data', (chunk) => (held === undefined ? below.push(chunk) : held.push(chunk)));
        const above = tls.connect({ socket: below, ca, servername: 'localhost' });
        await Promise.all([once(above, 'secureConnect'), once(server, 'secureConnection')]);
        await turns(5);
        held = [];
        answer();
        await once(raw, 'end');
        const text = textOf(above);
        deliver(below, Buffer.concat(held));
        const line = [await text, above.destroyed, below.destroyed].join(' ');
        if (line !== 'all true true') console.log(maxVersion, name, line);
        server.close();
      }
    }
    console.log('done');`,
  ['done'],
);

inside(
  'destroys the stream below at once, after the bytes that were written before',
  `
    import { Duplex } from 'node:stream';
    const { server, port } = await listen({}, async (socket) => { console.log(await textOf(socket)); server.close(); });
    const raw = net.connect(port, '127.0.0.1');
    const below = new Duplex({
      read() {},
      write(chunk, encoding, done) { raw.write(chunk, done); },
      destroy(error, done) { raw.end(); done(error); },
    });
    raw.on('data', (chunk) => below.push(chunk));
    const above = tls.connect({ socket: below, ca, servername: 'localhost' });
    await once(above, 'secureConnect');
    await new Promise(setImmediate);
    above.write('last', () => console.log('written'));
    above.destroy();
    console.log(above.destroyed, below.destroyed);`,
  ['true true', 'written', 'last'],
);

inside(
  'delivers the bytes behind bytes whose callback throws',
  `
    process.on('uncaughtException', ({ message }) => console.log('thrown', message));
    const { server, port } = await listen({}, (socket) => {
      socket.setMaxSendFragment(512);
      socket.end(Buffer.alloc(1_500));
    });
    const socket = tls.connect({ port, ca, servername: 'localhost', maxVersion: 'TLSv1.2' });
    socket.on('data', (chunk) => { throw new Error(chunk.length); });
    socket.on('close', () => { console.log('close'); server.close(); });`,
  ['thrown 512', 'thrown 512', 'thrown 476', 'close'],
);

inside(
  'reports an end before the handshake of a stream that closes itself',
  `
    const server = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const below = new net.Socket();
    const above = tls.connect({ socket: below });
    below.connect(server.address().port, '127.0.0.1');
    above.on('error', ({ code }) => console.log(code));
    above.on('close', (failed) => { console.log(failed); server.close(); });`,
  ['ECONNRESET', 'true'],
);

inside(
  'establishes no session with a client that refuses the server',
  `
    const { server, port } = await listen({}, () => console.log('a session'));
    server.on('tlsClientError', ({ code }) => { console.log(code); server.close(); });
    tls.connect({ port }).on('error', ({ code }) => console.log(code));`,
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ECONNRESET'],
);

inside(
  'begins the handshake with the first write, and ends a session twice without effect',
  `
    const { server, port } = await listen({}, async (socket) => { console.log(await textOf(socket)); server.close(); });
    const socket = new tls.TLSSocket(undefined, { ca });
    socket.connect(port, '127.0.0.1', () => { socket.end('sent'); socket.end(); });
    socket.on('end', () => console.log('end')).resume();`,
  ['sent', 'end'],
);

inside(
  'cuts the bytes of a program into records of a chosen size',
  `
    const { server, port } = await listen({}, (socket) => {
      console.log(socket.setMaxSendFragment(511), socket.setMaxSendFragment(600));
      socket.end(Buffer.alloc(10_000));
    });
    const sizes = [];
    const socket = tls.connect({ port, ca, servername: 'localhost' });
    socket.on('data', ({ length }) => sizes.push(length));
    await once(socket, 'end');
    console.log(Math.max(...sizes), sizes.reduce((sum, size) => sum + size));
    server.close();`,
  ['false true', '600 10000'],
);
