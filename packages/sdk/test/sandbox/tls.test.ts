// TLS in programs: clients of servers of this machine, and servers, sockets and streams inside the
// runtime. The sessions are in the edge process.

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { HOST_ADDRESS } from './outside-helpers.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY, SELF_SIGNED, SELF_SIGNED_KEY } from './tls-certificates.js';

usePrivateStoreFolder();

const HOST = HOST_ADDRESS ?? '';
const PEM = `
  const ca = ${JSON.stringify(AUTHORITY)};
  const cert = ${JSON.stringify(CERTIFICATE)};
  const key = ${JSON.stringify(KEY)};
  const selfSigned = { cert: ${JSON.stringify(SELF_SIGNED)}, key: ${JSON.stringify(SELF_SIGNED_KEY)} };
  import fs from 'node:fs'; import http from 'node:http'; import https from 'node:https'; import net from 'node:net';
  import tls from 'node:tls'; import { once } from 'node:events'; import { Duplex } from 'node:stream';
  const log = (...all) => console.log(...all);
`;

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(PEM + code);
  return (stdout + stderr).trim();
}

/** Runs a program in a runtime without options, and expects its lines. */
const inside = (name: string, code: string, lines: readonly string[]): void => {
  test(name, () =>
    withRuntime(MODES[0] as (typeof MODES)[number], { network: {} }, async (runtime) => {
      expect((await output(runtime, code)).split('\n')).toEqual(lines);
    }),
  );
};

/** An HTTPS server of this machine. */
async function server(): Promise<AsyncDisposable & { port: number }> {
  const one = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    let size = 0;
    request.on('data', (data: Buffer) => (size += data.length));
    request.on('end', () =>
      request.url === '/large' ? response.end(Buffer.alloc(3_000_000, 'a')) : response.end(`${request.url} ${size}`),
    );
  });
  one.listen(0, '0.0.0.0');
  await once(one, 'listening');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      one.close(() => resolve());
      one.closeAllConnections();
    });
  return { port: (one.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

describe.skipIf(HOST_ADDRESS === undefined).each(MODES)('$name', (mode) => {
  test('fetches over HTTPS with an authority of the program', async () => {
    await using one = await server();
    const network = { private: [`${HOST}:${one.port}`] };
    await withRuntime(mode, { network }, async (runtime) => {
      const code = `
        const get = (path, more = {}) => new Promise((resolve) => {
          const options = { host: '${HOST}', port: ${one.port}, path, ca, servername: 'localhost', ...more };
          const request = https.request({ method: more.body ? 'POST' : 'GET', ...options }, async (response) => {
            let size = 0, text = '';
            for await (const chunk of response) { size += chunk.length; if (text.length < 100) text += chunk; }
            resolve(size > 100 ? size : text);
          });
          request.on('error', ({ code }) => resolve(code));
          request.end(more.body);
        });
        log(await get('/first'));
        log(await get('/large'));
        log(await get('/post', { body: 'x'.repeat(2_000_000) }));
        log(await get('/', { ca: undefined }));
        log(await get('/', { servername: 'other.example.com' }));
        log(await get('/insecure', { ca: undefined, rejectUnauthorized: false }));`;
      expect((await output(runtime, code)).split('\n')).toEqual([
        '/first 0',
        '3000000',
        '/post 2000000',
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
        'ERR_TLS_CERT_ALTNAME_INVALID',
        '/insecure 0',
      ]);
    });
  });
});

const ECHO = `
  const options = { key, cert, ALPNProtocols: ['one', 'two'] };
  const server = tls.createServer(options, (socket) => socket.on('error', () => {}).pipe(socket));
  server.on('tlsClientError', ({ code }) => log('server', code));
  server.listen(0); await once(server, 'listening');
  const { port } = server.address();
  const read = async (socket) => { let all = ''; for await (const chunk of socket) all += chunk; return all; };
`;

describe('inside a runtime', () => {
  inside(
    'serves HTTPS, and a client of the same program fetches',
    `const answer = (request, response) => response.end('hello ' + request.socket.getProtocol());
    const server = https.createServer({ key, cert }, answer);
     server.listen(0); await once(server, 'listening');
     const request = https.get({ port: server.address().port, ca, host: 'localhost', agent: false });
     const [response] = await once(request, 'response');
     let all = ''; for await (const chunk of response) all += chunk;
     log(all, response.socket.authorized); server.close();`,
    ['hello TLSv1.3 true'],
  );

  inside(
    'reports the facts of a session',
    `${ECHO}
     const socket = tls.connect({ port, ca, host: 'localhost', ALPNProtocols: ['two'] });
     await once(socket, 'secureConnect');
     const peer = socket.getPeerCertificate(true);
     log(socket.authorized, socket.alpnProtocol, socket.getProtocol(),
        socket.getCipher().name, socket.getEphemeralKeyInfo().name);
     log(peer.subject.CN, peer.subjectaltname, peer.issuerCertificate.subject.CN, peer.bits, peer.infoAccess['OCSP - URI'][0]);
     const x509 = socket.getPeerX509Certificate();
     log(x509.checkHost('secure.example.com'), x509.checkIP('127.0.0.1'));
     const { value, writable } = Object.getOwnPropertyDescriptor(peer, 'fingerprint256');
     log(value === x509.fingerprint256, writable, { ...peer }.serialNumber === x509.serialNumber);
     socket.end('echo'); log(await read(socket)); server.close();`,
    [
      'true two TLSv1.3 TLS_AES_256_GCM_SHA384 X25519',
      'localhost DNS:localhost, DNS:secure.example.com, IP Address:127.0.0.1 Coldframe test authority 2048 ' +
        'http://ocsp.example.com/',
      'secure.example.com 127.0.0.1',
      'true true true',
      'echo',
    ],
  );

  inside(
    'moves many bytes in both directions',
    `${ECHO}
     const socket = tls.connect({ port, ca, host: 'localhost' });
     socket.end(Buffer.alloc(4_000_000, 'a'));
     let size = 0; for await (const chunk of socket) size += chunk.length;
     log(size); server.close();`,
    ['4000000'],
  );

  inside(
    'upgrades a connection in place, and runs over a stream of the program',
    `const plain = net.createServer((socket) => socket.once('data', () => {
       socket.write('go');
       const secure = new tls.TLSSocket(socket, { isServer: true, key, cert });
       secure.pipe(secure);
     }));
     plain.listen(0); await once(plain, 'listening');
     const socket = net.connect(plain.address().port);
     socket.write('STARTTLS'); await once(socket, 'data');
     const secure = tls.connect({ socket, ca, servername: 'localhost' });
     await once(secure, 'secureConnect');
     secure.write('upgraded'); log(String((await once(secure, 'data'))[0])); secure.destroy(); plain.close();
     const write = function (chunk, _, done) { this.other.push(chunk); done(); };
      const final = function (done) { this.other.push(null); done(); };
      const [left, right] = [0, 1].map(() => new Duplex({ read() {}, write, final }));
     left.other = right; right.other = left;
     const over = new tls.TLSSocket(right, { isServer: true, key, cert }); over.pipe(over);
     const client = tls.connect({ socket: left, ca, servername: 'localhost' });
     client.write('duplex'); log(String((await once(client, 'data'))[0])); client.destroy(); over.destroy();`,
    ['upgraded', 'duplex'],
  );

  inside(
    'fails with the codes of OpenSSL',
    `${ECHO}
     const code = async (options) => {
        const socket = tls.connect({ port, host: 'localhost', ...options });
        const [error] = await once(socket, 'error');
        return error.code;
      };
     log(await code({}));
     log(await code({ ca: selfSigned.cert }));
     log(await code({ ca, ALPNProtocols: ['three'] }));
     const own = tls.createServer(selfSigned, () => {}).listen(0); await once(own, 'listening');
     log(await code({ port: own.address().port }));
     const pinned = tls.connect({ port: own.address().port, ca: selfSigned.cert, host: 'localhost' });
     await once(pinned, 'secureConnect'); log(pinned.authorized); pinned.destroy(); own.close();
     const plain = http.createServer().listen(0); await once(plain, 'listening');
     log(await code({ port: plain.address().port })); plain.closeAllConnections(); plain.close();
     server.close();`,
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'server ECONNRESET',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'server ECONNRESET',
      'server ERR_SSL_NO_APPLICATION_PROTOCOL',
      'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'true',
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
  );

  inside(
    'calls back for names and protocols, and requests certificates of clients',
    `const server = tls.createServer({ key, cert, ca, requestCert: true, rejectUnauthorized: true,
       SNICallback: (name, done) => { log('name', name); done(null, tls.createSecureContext({ key, cert, ca })); },
       ALPNCallback: ({ protocols }) => protocols[1] }, (socket) => {
        log(socket.authorized, socket.getPeerCertificate().subject.O);
        socket.end();
      });
     server.listen(0); await once(server, 'listening');
     const { port } = server.address();
      const socket = tls.connect({ port, ca, key, cert, servername: 'secure.example.com', ALPNProtocols: ['a', 'b'] });
     await once(socket, 'secureConnect');
      log(socket.alpnProtocol);
      socket.resume();
      await once(socket, 'close');
      server.close();`,
    ['name secure.example.com', 'b', 'true Coldframe'],
  );

  inside(
    'resumes a session',
    `${ECHO}
     for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
       let session;
       for (const name of ['first', 'second', 'third']) {
         const socket = tls.connect({ port, ca, host: 'localhost', session, maxVersion });
         let isNew = false;
         socket.on('session', (bytes) => { isNew = true; session = bytes; });
         await once(socket, 'secureConnect');
         socket.write('x'); await once(socket, 'data');
         log(name, socket.isSessionReused(), isNew, socket.getSession().equals(session));
         socket.end(); socket.resume(); await once(socket, 'close');
       }
     }
     server.close();`,
    ['TLSv1.2', 'TLSv1.3'].flatMap(() => ['first false true true', 'second true false true', 'third true false true']),
  );
});

test('says which option TLS needs', () =>
  withRuntime(MODES[0] as (typeof MODES)[number], {}, async (runtime) => {
    const code = `const server = net.createServer().listen(0, () =>
      tls.connect(server.address().port).on('error', ({ code, message }) => {
      log(code, message); process.exit(); }));`;
    expect(await output(runtime, code)).toMatch(/^ERR_FEATURE_UNAVAILABLE_ON_PLATFORM TLS needs the option `network`/);
  }));

test('resets sessions when a snapshot is restored', () =>
  withMode(MODES[0] as (typeof MODES)[number], async (provisioning) => {
    const runtime = await provisioning.create({ network: {} });
    let all = '';
    const code = `${PEM}${ECHO}
      const socket = tls.connect({ port, ca, host: 'localhost' });
      socket.on('secureConnect', () => log('open')).on('error', ({ code }) => log(code)).on('close', () => log('close'));
      setInterval(() => {}, 1_000);`;
    await runtime.spawn(code, { onStdout: (bytes) => (all += Buffer.from(bytes).toString()) });
    await until(() => all !== '');
    expect(all).toBe('open\n');
    const snapshot = await runtime.snapshot();
    await runtime.rollback(snapshot);
    await until(() => all.includes('close'));
    expect(all).toContain('ECONNRESET');
    await runtime.dispose();
  }));
