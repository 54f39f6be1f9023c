// Sessions of TLS over connections out of a runtime. The edge process moves the encrypted bytes of
// these sessions, and judges the name of the server and the requests.

import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer, TLSSocket, type TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { NetworkEvents, NodeRuntime } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { edgePids, HOST_ADDRESS } from './outside-helpers.js';
import { disposeAll, evaluate, runnerOf, until, usePrivateStoreFolder } from './snapshot-helpers.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

usePrivateStoreFolder();

const HOST = HOST_ADDRESS ?? '';
const PEM = `
  const ca = ${JSON.stringify(AUTHORITY)}, cert = ${JSON.stringify(CERTIFICATE)}, key = ${JSON.stringify(KEY)};
  import https from 'node:https'; import net from 'node:net'; import tls from 'node:tls'; import { once } from 'node:events';
  const log = (...all) => console.log(...all);
`;

async function output(runtime: NodeRuntime, code: string): Promise<string[]> {
  const { stdout, stderr } = await runtime.exec(PEM + code);
  return (stdout + stderr).trim().split('\n');
}

interface Listening extends AsyncDisposable {
  readonly port: number;
}

async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

/** A server of TLS of this machine. */
const tlsServer = (handler: (socket: TLSSocket) => void, options: TlsOptions = {}): Promise<Listening> =>
  listening(
    createServer({ key: KEY, cert: CERTIFICATE, allowHalfOpen: true, ...options }, (socket) => {
      socket.on('error', () => {});
      handler(socket);
    }),
  );

const echo = (options?: TlsOptions): Promise<Listening> => tlsServer((socket) => socket.pipe(socket), options);

/** The options of a client, and functions for its result. */
const client = (port: number): string => `
  const options = { host: '${HOST}', port: ${port}, ca, servername: 'localhost' };
  const read = async (socket) => { let all = ''; for await (const chunk of socket) all += chunk; return all; };
  const outcome = (socket) => new Promise((resolve) => {
    socket.on('secureConnect', () => resolve('secure'));
    const fail = ({ code, permission, reason, rule }) => resolve([code, permission, reason, rule].filter(Boolean).join(' '));
    socket.on('error', fail);
  });
`;

const opened = ({ port }: Listening): { private: string[] } => ({ private: [`${HOST}:${port}`] });

describe.skipIf(HOST_ADDRESS === undefined).each(MODES.slice(0, 2))('$name', (mode) => {
  test('ends each direction separately, and negotiates a protocol', async () => {
    await using server = await tlsServer(
      (socket) => {
        let size = 0;
        socket.on('data', (data: Buffer) => (size += data.length));
        socket.on('end', () => socket.end(`${size} ${socket.alpnProtocol}`));
      },
      { ALPNProtocols: ['two'] },
    );
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
        const socket = tls.connect({ ...options, ALPNProtocols: ['one', 'two'] });
        await once(socket, 'secureConnect');
        log(socket.authorized, socket.getProtocol(), socket.alpnProtocol, socket.remotePort === ${server.port});
        socket.end('x'.repeat(1_000_000));
        log(await read(socket));`;
      expect(await output(runtime, code)).toEqual(['true TLSv1.3 two true', '1000000 two']);
    });
  });

  test('a slow reader stops the peer, and receives all bytes', async () => {
    let written = 0;
    await using server = await tlsServer((socket) => {
      const write = (): void => {
        while (written < 20_000_000) {
          written += 100_000;
          if (!socket.write(Buffer.alloc(100_000, 'a'))) break;
        }
        if (written >= 20_000_000) socket.end();
      };
      socket.on('drain', write);
      write();
    });
    // The program reads from the first byte of this server on.
    let start: Socket | undefined;
    await using starter = await listening(createTcpServer((socket) => (start = socket)));
    const network = { private: [`${HOST}:${server.port}`, `${HOST}:${starter.port}`] };
    await withRuntime(mode, { network }, async (runtime) => {
      const code = `${client(server.port)}
        const socket = tls.connect(options);
        await once(socket, 'secureConnect');
        await once(net.connect(${starter.port}, '${HOST}'), 'data');
        let size = 0;
        for await (const chunk of socket) size += chunk.length;
        log(size);
        process.exit();`;
      const running = output(runtime, code);
      // The peer stops when the buffers are full, long before the end of the body.
      let [before, equal] = [-1, 0];
      await until(() => {
        equal = start !== undefined && written === before ? equal + 1 : 0;
        before = written;
        return equal === 10;
      });
      expect(written).toBeLessThan(20_000_000);
      start?.write('x');
      expect(await running).toEqual(['20000000']);
    });
  });

  test('upgrades a connection after plain bytes', async () => {
    await using server = await listening(
      createTcpServer((socket) => {
        socket.once('data', (data) => {
          expect(String(data)).toBe('STARTTLS\r\n');
          socket.write('220 ready\r\n', () => {
            const secure = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE });
            secure.on('error', () => {}).pipe(secure);
          });
        });
      }),
    );
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
        const plain = net.connect(${server.port}, '${HOST}');
        plain.write('STARTTLS\\r\\n');
        const [greeting] = await once(plain, 'data');
        const socket = tls.connect({ socket: plain, ca, servername: 'localhost' });
        await once(socket, 'secureConnect');
        socket.end('after the upgrade');
        log(String(greeting).trim(), socket.authorized, await read(socket));`;
      expect(await output(runtime, code)).toEqual(['220 ready true after the upgrade']);
    });
  });

  test('early bytes of a peer are no bytes of the session', async () => {
    await using server = await listening(
      createTcpServer((socket) => {
        // A hostile peer sends a response before the session.
        socket.write('220 ready\r\n250 injected\r\n');
      }),
    );
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
        const plain = net.connect(${server.port}, '${HOST}');
        await once(plain, 'readable');
        plain.read(11);
        log(await outcome(tls.connect({ socket: plain, ca, servername: 'localhost' })));`;
      expect(await output(runtime, code)).toEqual(['ERR_SSL_WRONG_VERSION_NUMBER wrong version number']);
    });
  });

  test('resumes a session, and shows a certificate of the client', async () => {
    await using server = await tlsServer(
      (socket) => socket.end(`${socket.isSessionReused()} ${socket.getPeerCertificate().subject?.CN}`),
      {
        requestCert: true,
        ca: AUTHORITY,
        rejectUnauthorized: false,
      },
    );
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      const code = `${client(server.port)}
        log(await read(tls.connect({ ...options, cert, key })));
        const first = tls.connect(options);
        const [[session], text] = await Promise.all([once(first, 'session'), read(first)]);
        log(text);
        const second = tls.connect({ ...options, session });
        let reused;
        second.on('secureConnect', () => (reused = second.isSessionReused()));
        log(await read(second), reused);`;
      expect(await output(runtime, code)).toEqual(['false localhost', 'false undefined', 'true undefined true']);
    });
  });

  test('a reset in the handshake, and a reset later, are errors', async () => {
    await using early = await listening(createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy())));
    await using late = await listening(
      createTcpServer((socket) => {
        const secure = new TLSSocket(socket, { isServer: true, key: KEY, cert: CERTIFICATE });
        secure.on('error', () => {}).once('data', () => socket.resetAndDestroy());
      }),
    );
    const network = { private: [`${HOST}:${early.port}`, `${HOST}:${late.port}`] };
    await withRuntime(mode, { network }, async (runtime) => {
      const code = `${client(early.port)}
        log(await outcome(tls.connect(options)));
        const socket = tls.connect({ ...options, port: ${late.port} });
        await once(socket, 'secureConnect');
        socket.write('x');
        log(await once(socket, 'data').catch(({ code }) => code));`;
      expect(await output(runtime, code)).toEqual(['ECONNRESET', 'ECONNRESET']);
    });
  });

  test('a denied server name is a typed error, and an event', async () => {
    await using server = await echo();
    const network = { ...opened(server), deny: ['evil.example.com'] };
    await withRuntime(mode, { network }, async (runtime) => {
      const denied: NetworkEvents['denied'][] = [];
      const stop = await runtime.network.on('denied', (event) => void denied.push(event));
      const code = `${client(server.port)}
        log(await outcome(tls.connect({ ...options, servername: 'evil.example.com' })));
        log(await outcome(tls.connect(options)));
        process.exit();`;
      expect(await output(runtime, code)).toEqual(['EACCES network.connect sni deny[0]', 'secure']);
      await until(() => denied.length > 0);
      await stop();
      expect(denied).toMatchObject([{ reason: 'sni', rule: 'deny[0]' }]);
    });
  });

  test('the end of the edge process resets sessions', async () => {
    await until(() => edgePids().length === 0);
    await using server = await echo();
    await withRuntime(mode, { network: opened(server) }, async (runtime) => {
      let text = '';
      const code = `${PEM} ${client(server.port)}
        const socket = tls.connect(options, () => log('open'));
        socket.on('error', ({ code }) => log(code)).on('close', () => log('close'));
        setInterval(() => {}, 1_000);`;
      const program = await runtime.spawn(code, { onStdout: (more) => (text += Buffer.from(more)) });
      await until(() => text === 'open\n');
      for (const pid of edgePids()) process.kill(pid, 'SIGKILL');
      await until(() => text === 'open\nECONNRESET\nclose\n');
      await program.kill('SIGKILL');
    });
  });

  test('a request after each restore succeeds', async () => {
    await using server = await listening(
      createHttpsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => response.end(`${request.method}`)),
    );
    const network = opened(server);
    const setup = `
      import https from 'node:https';
      const agent = new https.Agent({ keepAlive: true });
      globalThis.get = () => new Promise((resolve) => {
        const ca = ${JSON.stringify(AUTHORITY)};
        const options = { host: '${HOST}', port: ${server.port}, agent, ca, servername: 'localhost' };
        const request = https.get(options, (response) => {
          response.setEncoding('utf8').on('data', resolve);
        });
        request.on('error', ({ code }) => resolve(code));
      });`;
    const get = async (runtime: NodeRuntime): Promise<string> => evaluate(await runnerOf(runtime), 'await get()');
    await withMode(mode, async (provisioning) => {
      const runtime = await provisioning.create({ network });
      const made = [runtime];
      try {
        await (await runtime.createResidentRunner()).exec(setup);
        expect(await get(runtime)).toBe('GET');
        const snapshot = await runtime.snapshot();
        await runtime.rollback(snapshot);
        expect(await get(runtime)).toBe('GET');
        const clone = await runtime.clone();
        made.push(clone);
        expect(await get(clone)).toBe('GET');
      } finally {
        await disposeAll(made);
      }
    });
  });
});
