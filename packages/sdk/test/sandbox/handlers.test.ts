// Functions of the app respond to requests of programs: `handle` of a rule of `network.http`.
// `handlers-life.test.ts` has aborts, ends and changes.

import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { type NetworkEvents, NodeRuntime, type NodeRuntimeOptions, type RequestHandler } from '../../src/index.js';
import { MODES, withMode, withRuntime } from './modes.js';

const HOST = 'hooks.example.com';

/** Options with a function for both schemes. */
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

describe.each(MODES)('$name', (mode) => {
  test('a function receives the request of fetch, and its response reaches the program', async () => {
    const seen: unknown[] = [];
    const handle: RequestHandler = async (request) => {
      const { method, url, headers } = request;
      seen.push(method, url, headers.get('x-sent'), headers.get('host'), await request.text());
      return new Response('from the app é', {
        status: 201,
        headers: [
          ['x-a', '1'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      });
    };
    await withRuntime(mode, handledBy(handle), async (runtime) => {
      const printed = await output(
        runtime,
        `for (const scheme of ['http', 'https']) {
          const init = { method: 'POST', body: 'sent', headers: { 'x-sent': 'yes' } };
          const response = await fetch(scheme + '://${HOST}/a/b?c=d%20e', init);
          const { status, headers } = response;
          console.log(status, headers.get('x-a'), headers.getSetCookie().join(), await response.text());
        }`,
      );
      expect(printed).toBe('201 1 a=1,b=2 from the app é\n201 1 a=1,b=2 from the app é');
      expect(seen).toEqual(
        ['http', 'https'].flatMap((scheme) => ['POST', `${scheme}://${HOST}/a/b?c=d%20e`, 'yes', null, 'sent']),
      );
    });
  });

  test('http.get and https.get share a connection between requests, and see a session of TLS', async () => {
    let calls = 0;
    await withRuntime(
      mode,
      handledBy(() => new Response(`call ${++calls}`)),
      async (runtime) => {
        const printed = await output(
          runtime,
          `import http from 'node:http'; import https from 'node:https'; import { text } from 'node:stream/consumers';
        for (const [module, scheme] of [[http, 'http'], [https, 'https']]) {
          const agent = new module.Agent({ keepAlive: true });
          for (let i = 0; i < 2; i++) {
            const response = await new Promise((resolve, reject) =>
              module.get(scheme + '://${HOST}/', { agent }, resolve).on('error', reject));
            const { socket } = response;
            const { subjectaltname } = socket.getPeerCertificate?.() ?? {};
            console.log(response.statusCode, await text(response), socket.authorized, subjectaltname,
              socket.getProtocol?.());
          }
          console.log(Object.values(agent.freeSockets).flat().length);
          agent.destroy();
        }`,
        );
        const facts = `true DNS:${HOST} TLSv1.3`;
        const lines = ['200 call 1 undefined undefined undefined', '200 call 2 undefined undefined undefined', '1'];
        expect(printed.split('\n')).toEqual([...lines, `200 call 3 ${facts}`, `200 call 4 ${facts}`, '1']);
      },
    );
  });

  test('large bodies stream through a function in both directions', async () => {
    // The function transforms the body without collecting it.
    const handle: RequestHandler = (request) => new Response(request.body);
    await withRuntime(mode, handledBy(handle), async (runtime) => {
      const printed = await output(
        runtime,
        `import { createHash } from 'node:crypto';
        for (const scheme of ['http', 'https']) {
          const [sent, received] = [createHash('sha256'), createHash('sha256')];
          let left = 64;
          const body = new ReadableStream({ pull(controller) {
            if (left-- === 0) return controller.close();
            const bytes = new Uint8Array(65_536).fill(left);
            sent.update(bytes);
            controller.enqueue(bytes);
          } });
          const response = await fetch(scheme + '://${HOST}/', { method: 'PUT', body, duplex: 'half' });
          let count = 0;
          for await (const piece of response.body) { received.update(piece); count += piece.length; }
          console.log(count, sent.digest('hex') === received.digest('hex'));
        }`,
      );
      expect(printed).toBe('4194304 true\n4194304 true');
    });
  });

  test('a function that throws, or returns no response, leads to 502 and an event', async () => {
    const results: Record<string, () => unknown> = {
      '/throw': () => {
        throw new Error('the secret reason');
      },
      '/reject': () => Promise.reject(new Error('the secret reason')),
      '/nothing': () => undefined,
      '/error': () => Response.error(),
      '/text': () => 'text',
    };
    const handle = ((request: Request) => results[new URL(request.url).pathname]?.()) as RequestHandler;
    await withRuntime(mode, handledBy(handle), async (runtime) => {
      const events: NetworkEvents['request'][] = [];
      const stop = await runtime.network.on('request', (event) => events.push(event));
      for (const path of Object.keys(results)) {
        const printed = await output(
          runtime,
          `const response = await fetch('https://${HOST}${path}');
          const { code, host, permission, reason } = (await response.json()).error;
          const facts = JSON.stringify({ code, host, permission, reason });
          console.log(response.status, response.headers.get('coldframe-denied'), facts);`,
        );
        expect(printed).toBe(
          `502 handler-failed {"code":"ERR_ACCESS_DENIED","host":"${HOST}","permission":"network.request","reason":"handler-failed"}`,
        );
      }
      await stop();
      expect(events.map(({ host, path, status, reason }) => [host, path, status, reason])).toEqual(
        Object.keys(results).map((path) => [HOST, path, 502, 'handler-failed']),
      );
    });
  });

  test('a function without a response leads to 504, and its signal aborts', async () => {
    const { promise: aborted, resolve } = deferred<boolean>();
    const handle: RequestHandler = (request) => {
      request.signal.addEventListener('abort', () => resolve(request.signal.aborted));
      return new Promise(() => {});
    };
    const network = { http: [{ host: HOST, handle, handleTimeoutMs: 50 }] };
    await withRuntime(mode, { network }, async (runtime) => {
      const printed = await output(
        runtime,
        `const response = await fetch('https://${HOST}/');
        console.log(response.status, response.headers.get('coldframe-denied'))`,
      );
      expect(printed).toBe('504 handler-timeout');
      expect(await aborted).toBe(true);
    });
  });

  test('only requests that a rule allows reach a function', async () => {
    const seen: string[] = [];
    const handle: RequestHandler = ({ method, url }) => {
      seen.push(`${method} ${url}`);
      return new Response();
    };
    const network = {
      http: [{ host: '*.example.com', methods: ['GET'], paths: ['/open/**'], handle }],
      allow: ['other.example:443'],
    };
    await withRuntime(mode, { network }, async (runtime) => {
      const printed = await output(
        runtime,
        `import net from 'node:net'; import dns from 'node:dns/promises';
        for (const [path, method] of [['/open/a', 'GET'], ['/open/a', 'POST'], ['/closed', 'GET'], ['/open/../closed', 'GET']]) {
          const response = await fetch('https://a.example.com' + path, { method });
          console.log(response.status, response.headers.get('coldframe-denied'));
        }
        const { address } = await dns.lookup('a.example.com');
        const long = await dns.resolve6('a.example.com').catch(({ code }) => code);
        console.log(address, (await dns.resolve4('a.example.com')).join(), long);
        // Another port, the address of no name, another name at the address.
        for (const [port, host] of [[80, 'a.example.com'], [443, '198.18.9.9']]) {
          const error = await new Promise((resolve) => net.connect(port, host).on('error', resolve).on('connect', resolve));
          console.log(error?.code, error?.reason);
        }`,
      );
      expect(printed.split('\n')).toEqual([
        '200 null',
        '403 method',
        '403 path',
        '403 path',
        '198.18.0.2 198.18.0.2 ENODATA',
        'EACCES denied',
        'EACCES private-address',
      ]);
      expect(seen).toEqual(['GET https://a.example.com/open/a']);
    });
  });

  test('two runtimes have their own functions, also for one host', async () => {
    await withMode(mode, async (sandbox) => {
      const [first, second] = await Promise.all(
        ['first', 'second'].map((text) => sandbox.create(handledBy(() => new Response(text)))),
      );
      try {
        const code = `console.log(await (await fetch('https://${HOST}/')).text())`;
        const printed = await Promise.all([first, second].map((runtime) => output(runtime as NodeRuntime, code)));
        expect(printed).toEqual(['first', 'second']);
      } finally {
        await Promise.all([first?.dispose(), second?.dispose()]);
      }
    });
  });
});

test('a placeholder of a secret reaches the function unchanged, and no value leaves the app', async () => {
  const seen: (string | null)[] = [];
  const options = handledBy(({ headers }) => {
    seen.push(headers.get('authorization'));
    return new Response('ok');
  });
  const secrets = { KEY: { value: 'the-real-value-of-the-key', hosts: [HOST, `${HOST}:80`], insecure: true } };
  await using runtime = await NodeRuntime.create({ ...options, secrets });
  const events: NetworkEvents['request'][] = [];
  const stop = await runtime.network.on('request', (event) => events.push(event));
  const printed = await output(
    runtime,
    `for (const scheme of ['http', 'https'])
      await fetch(scheme + '://${HOST}/', { headers: { authorization: 'Bearer ' + process.env.KEY } });
    console.log('Bearer ' + process.env.KEY)`,
  );
  await stop();
  expect(printed).toMatch(/^Bearer cfs_/);
  expect(seen).toEqual([printed, printed]);
  expect(events.map(({ secrets, placeholders }) => [secrets, placeholders])).toEqual([
    [[], ['KEY']],
    [[], ['KEY']],
  ]);
});

test('wrong rules about a function are refused', async () => {
  const handle = () => new Response();
  const host = HOST;
  const wrong: [rules: object[], code: string, path: string][] = [
    [[{ host, handle: 'text' }], 'ERR_INVALID_OPTION', 'network.http.0.handle'],
    [[{ host, handle, handleTimeoutMs: 0 }], 'ERR_INVALID_OPTION', 'network.http.0.handleTimeoutMs'],
    [[{ host, handleTimeoutMs: 10 }], 'ERR_INVALID_OPTION', 'network.http.0.handleTimeoutMs'],
    [[{ host, handle, inject: { a: 'b' } }], 'ERR_INVALID_OPTION', 'network.http.0.inject'],
    [[{ host, handle }, { host: `${host}:80` }], 'ERR_INVALID_REQUEST', 'network.http[1]'],
  ];
  for (const [http, code, path] of wrong) {
    const network = { http } as NonNullable<NodeRuntimeOptions['network']>;
    const error = await NodeRuntime.create({ network }).then(
      (runtime) => runtime.dispose(),
      (thrown: Error) => thrown,
    );
    expect((error as { code?: string }).code).toBe(code);
    expect(String((error as Error).message)).toContain(path);
  }
});
