// The life of requests to which functions of the app respond: slow readers, aborts, ends of
// runtimes, changes of the rules, hostile programs. `handlers.test.ts` has the requests themselves.

import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Deferred, deferred } from '../../src/deferred.js';
import {
  type GuestProcess,
  type NetworkEvents,
  NodeRuntime,
  type NodeRuntimeOptions,
  type RequestHandler,
  Sidecar,
} from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';
import { edgePids } from './outside-helpers.js';
import { until, usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

const HOST = 'hooks.example.com';
const ALL = 4_194_304;

const handledBy = (handle: RequestHandler): NodeRuntimeOptions => ({
  network: {
    http: [
      { host: HOST, handle },
      { host: `${HOST}:80`, handle },
    ],
  },
});

async function output(runtime: NodeRuntime, code: string): Promise<string> {
  const { stdout, stderr } = await runtime.exec(code);
  return (stdout + stderr).trim();
}

/** A function that responds to `/ready` alone, after another request, and that request's signal. */
function waiting(): { handle: RequestHandler; called: Deferred<void>; aborted: Deferred<void> } {
  const [called, aborted] = [deferred<void>(), deferred<void>()];
  const handle: RequestHandler = async ({ url, signal }) => {
    if (url.endsWith('/ready')) {
      await called.promise;
      return new Response();
    }
    signal.addEventListener('abort', () => aborted.resolve());
    called.resolve();
    return new Promise(() => {});
  };
  return { handle, called, aborted };
}

/** A function whose response fails when the program requests `/fail`. */
function failing(): RequestHandler {
  let fail = deferred<void>();
  return ({ url }) => {
    if (url.endsWith('/fail')) {
      fail.resolve();
      fail = deferred<void>();
      return new Response();
    }
    const asked = fail.promise;
    let pieces = 0;
    const body = new ReadableStream({
      async pull(controller) {
        if (pieces++ === 0) return controller.enqueue(new TextEncoder().encode('first'));
        await asked;
        controller.error(new Error('the secret reason'));
      },
    });
    return new Response(body);
  };
}

const REQUEST = `await fetch('https://${HOST}/').catch(() => {})`;

describe.each(MODES)('$name', (mode) => {
  test('a function that does not read suspends the program, and a program that does not read suspends a function', async () => {
    let produced = 0;
    const read = deferred<void>();
    const handle: RequestHandler = async (request) => {
      if (request.method === 'GET') {
        const body = new ReadableStream({
          pull(controller) {
            produced += 65_536;
            controller.enqueue(new Uint8Array(65_536));
            if (produced >= 16 * ALL) controller.close();
          },
        });
        return new Response(body);
      }
      await read.promise;
      return new Response(String((await request.arrayBuffer()).byteLength));
    };
    await withRuntime(mode, handledBy(handle), async (runtime) => {
      const uploading = await runtime.spawn(`
        import https from 'node:https'; import { text } from 'node:stream/consumers';
        const request = https.request('https://${HOST}/', { method: 'POST' });
        request.on('response', async (response) => console.log(await text(response)));
        // The program writes until the connection takes no more bytes.
        let sent = 0;
        while (request.write(Buffer.alloc(65_536))) sent += 65_536;
        console.log('suspended');
        request.end();`);
      for await (const piece of uploading.stdout) {
        if (Buffer.from(piece).toString().includes('suspended')) break;
      }
      read.resolve();
      expect((await uploading.result).exitCode).toBe(0);
      // The program reads the first piece, and then nothing.
      await output(
        runtime,
        `import https from 'node:https'; import { once } from 'node:events';
        const [response] = await once(https.get('https://${HOST}/'), 'response');
        await once(response, 'readable');
        process.exit()`,
      );
      expect(produced).toBeGreaterThan(0);
      expect(produced).toBeLessThan(8 * ALL);
    });
  });

  test('the abort of a program aborts the signal of the request', async () => {
    for (const scheme of ['http', 'https']) {
      const { handle, aborted } = waiting();
      await withRuntime(mode, handledBy(handle), async (runtime) => {
        const printed = await output(
          runtime,
          `const stop = new AbortController();
          const asked = fetch('${scheme}://${HOST}/', { signal: stop.signal, method: 'POST', body: 'x' });
          await fetch('${scheme}://${HOST}/ready');
          stop.abort();
          console.log(await asked.catch(({ name }) => name));`,
        );
        expect(printed).toBe('AbortError');
        await aborted.promise;
      });
    }
  });

  test('a body of a response that fails ends the response for the program', async () => {
    await withRuntime(mode, handledBy(failing()), async (runtime) => {
      const code = (scheme: string): string => `
        const response = await fetch('${scheme}://${HOST}/');
        const reader = response.body.getReader();
        console.log(response.status, new TextDecoder().decode((await reader.read()).value));
        await fetch('${scheme}://${HOST}/fail');
        console.log(await reader.read().catch((error) => error.name));`;
      expect(await output(runtime, code('https'))).toBe('200 first\nTypeError');
      expect(await output(runtime, code('http'))).toBe('200 first\nTypeError');
    });
  });

  test('the end of a runtime, of the edge process and of a program aborts the signal', async () => {
    await withMode(mode, async (sandbox) => {
      const ends: ((runtime: NodeRuntime, program: GuestProcess) => unknown)[] = [
        (runtime) => runtime.dispose(),
        () => edgePids().map((pid) => process.kill(pid, 'SIGKILL')),
        (_, program) => program.kill('SIGKILL'),
      ];
      for (const end of ends) {
        const { handle, called, aborted } = waiting();
        const runtime = await sandbox.create(handledBy(handle));
        const program = await runtime.spawn(REQUEST);
        await called.promise;
        await end(runtime, program);
        await aborted.promise;
        await runtime.dispose();
      }
    });
  });

  test('a rollback and a pause abort the signal, and later requests reach the function', async () => {
    const aborts: Promise<void>[] = [];
    const handle: RequestHandler = ({ url, signal }) => {
      if (url.endsWith('/now')) return new Response('again');
      aborts.push(once(signal, 'abort').then(() => {}));
      return new Promise(() => {});
    };
    await withRuntime(mode, handledBy(handle), async (runtime) => {
      const snapshot = await runtime.snapshot();
      const begin = async (count: number): Promise<void> => {
        await runtime.spawn(`setInterval(() => {}, 1_000); ${REQUEST}`);
        await until(() => aborts.length === count);
      };
      const now = `console.log(await (await fetch('https://${HOST}/now')).text())`;
      await begin(1);
      await runtime.rollback(snapshot);
      await aborts[0];
      expect(await output(runtime, now)).toBe('again');
      await begin(2);
      await runtime.pause();
      await aborts[1];
      await runtime.resume();
      expect(await output(runtime, now)).toBe('again');
    });
  });
});

test('an update adds, replaces and removes functions, and resets the connections of a removed function', async () => {
  const { handle, called, aborted } = waiting();
  await using runtime = await NodeRuntime.create({ network: {} });
  const code = `console.log(await fetch('https://${HOST}/').then((response) => response.text(), ({ cause }) => cause.code))`;
  expect(await output(runtime, code)).toBe('ENOTFOUND');
  const update = (one?: RequestHandler) =>
    runtime.network.update({ http: one === undefined ? null : [{ host: HOST, handle: one }] });
  await update(() => new Response('first'));
  expect(await output(runtime, code)).toBe('first');
  const second = (): Response => new Response('second');
  await update(second);
  expect(await output(runtime, code)).toBe('second');
  expect(runtime.network.get().http?.[0]?.handle).toBe(second);
  expect(await runtime.network.check(`https://${HOST}/`)).toMatchObject({ allowed: true, rule: 'http[0]' });
  await update(handle);
  const program = output(runtime, code);
  await called.promise;
  await update();
  await aborted.promise;
  expect(await program).toBe('ECONNRESET');
  expect(await output(runtime, code)).toBe('ENOTFOUND');
});

test('a change of another option keeps the connections of a function', async () => {
  const [called, go] = [deferred<void>(), deferred<void>()];
  const handle: RequestHandler = async () => {
    called.resolve();
    await go.promise;
    return new Response('kept');
  };
  await using runtime = await NodeRuntime.create({ network: { http: [{ host: HOST, handle }] } });
  const program = output(runtime, `console.log(await (await fetch('https://${HOST}/')).text())`);
  await called.promise;
  await runtime.network.update({ allow: ['example.com'] });
  go.resolve();
  expect(await program).toBe('kept');
});

test('a clone has the functions of its source, and a restored runtime has the functions of its options', async () => {
  const code = `console.log(await fetch('https://${HOST}/').then((response) => response.text(), ({ cause }) => cause.code))`;
  await using runtime = await NodeRuntime.create(handledBy(() => new Response('source')));
  await using clone = await runtime.clone();
  expect(await output(clone, code)).toBe('source');
  await using other = await runtime.clone({ network: { http: [{ host: HOST, handle: () => new Response('clone') }] } });
  expect(await output(other, code)).toBe('clone');
  const snapshot = await runtime.snapshot();
  await using restored = await NodeRuntime.create({ snapshot, ...handledBy(() => new Response('restored')) });
  expect(await output(restored, code)).toBe('restored');
  await using bare = await NodeRuntime.create({ snapshot, network: {} });
  expect(await output(bare, code)).toBe('ENOTFOUND');
});

test('more requests than the limit get 503, and the others are answered', async () => {
  const [go, refused] = [deferred<void>(), deferred<void>()];
  let [calls, denied] = [0, 0];
  const handle: RequestHandler = async () => {
    calls++;
    await go.promise;
    return new Response('ok');
  };
  const network = {
    http: [{ host: `${HOST}:80`, handle }],
    limits: { connections: 400, connectsPerSecond: 10_000, connecting: 400 },
  };
  await using runtime = await NodeRuntime.create({ network, limits: { descriptors: 1_024, sockets: 1_024 } });
  const limits: NetworkEvents['limit'][] = [];
  const stop = await runtime.network.on('limit', (event) => limits.push(event));
  await runtime.network.on('request', ({ reason }) => {
    if (reason === 'limit' && ++denied === 44) refused.resolve();
  });
  const program = output(
    runtime,
    `import http from 'node:http';
    const counts = {};
    let left = 300;
    for (let i = 0; i < 300; i++) {
      http.get('http://${HOST}/', (response) => {
        const key = response.statusCode + ' ' + (response.headers['coldframe-denied'] ?? '');
        counts[key] = (counts[key] ?? 0) + 1;
        response.resume().on('end', () => { if (--left === 0) console.log(counts['200 '], counts['503 limit']); });
      });
    }`,
  );
  await refused.promise;
  await until(() => calls === 256);
  go.resolve();
  expect(await program).toBe('256 44');
  await stop();
  expect(limits.map(({ limit }) => limit)).toContain('handledRequests');
});

test('malformed requests, upgrades and opaque TLS never reach a function', async () => {
  let calls = 0;
  const handle: RequestHandler = () => {
    calls++;
    return new Response('ok');
  };
  await using runtime = await NodeRuntime.create(handledBy(handle));
  const heads = [
    'GET / HTTP/1.1\\r\\n\\r\\n',
    `GET / HTTP/1.1\\r\\nhost: ${HOST}\\r\\nhost: ${HOST}\\r\\n\\r\\n`,
    'GET / HTTP/1.1\\r\\nhost: other.example.com\\r\\n\\r\\n',
    `POST / HTTP/1.1\\r\\nhost: ${HOST}\\r\\ncontent-length: 1\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n`,
    `GET / HTTP/1.1\\r\\nhost: ${HOST}\\r\\nconnection: upgrade\\r\\nupgrade: websocket\\r\\n\\r\\n`,
    `CONNECT ${HOST}:80 HTTP/1.1\\r\\nhost: ${HOST}\\r\\n\\r\\n`,
    'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n',
    'no request\\r\\n\\r\\n',
  ];
  const printed = await output(
    runtime,
    `import net from 'node:net'; import { once } from 'node:events';
    for (const head of ${JSON.stringify(heads).replaceAll('\\\\', '\\')}) {
      const socket = net.connect(80, '${HOST}');
      socket.write(head);
      const [bytes] = await once(socket, 'data');
      console.log(bytes.toString('latin1', 9, 12));
      socket.destroy();
    }
    // A message of TLS that the program has made itself.
    const socket = net.connect(443, '${HOST}');
    socket.write(Buffer.from('16030100050100000100', 'hex'));
    console.log(await once(socket, 'data').catch(({ code, reason }) => code + ' ' + reason));`,
  );
  expect(printed.split('\n')).toEqual(['400', '400', '403', '400', '403', '400', '505', '400', 'ECONNRESET undefined']);
  expect(calls).toBe(0);
});

test('a malformed chunk in the body aborts the request of a function', async () => {
  const [called, ended] = [deferred<void>(), deferred<unknown>()];
  const handle: RequestHandler = async (request) => {
    if (request.method === 'GET') {
      await called.promise;
      return new Response();
    }
    request.text().then(ended.resolve, () => ended.resolve('failed'));
    called.resolve();
    return new Promise(() => {});
  };
  await using runtime = await NodeRuntime.create(handledBy(handle));
  const printed = await output(
    runtime,
    `import net from 'node:net'; import { once } from 'node:events';
    const socket = net.connect(80, '${HOST}');
    socket.write('POST / HTTP/1.1\\r\\nhost: ${HOST}\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n3\\r\\nabc');
    await fetch('http://${HOST}/');
    socket.write('X');
    const [bytes] = await once(socket, 'data');
    console.log(bytes.toString('latin1', 9, 12));
    socket.destroy();`,
  );
  expect(await ended.promise).toBe('failed');
  expect(printed).toBe('400');
});

test('runtimes of one sidecar cannot reach the functions of each other', async () => {
  await using sidecar = await Sidecar.spawn();
  await using first = await NodeRuntime.create({ sidecar, ...handledBy(() => new Response('first')) });
  await using second = await NodeRuntime.create({ sidecar, network: {} });
  const address = await output(first, `import dns from 'node:dns/promises'; console.log((await dns.lookup('${HOST}')).address)`);
  const code = `import net from 'node:net';
    console.log(await fetch('https://${HOST}/').catch(({ cause }) => cause.code));
    net.connect(443, '${address}').on('error', ({ code, reason }) => console.log(code, reason));`;
  expect(await output(second, code)).toBe('ENOTFOUND\nEACCES private-address');
});
