// Measures requests through a gateway of the app, beside `runtime.fetch()` of the same server.

import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, NodeRuntime } from 'coldframe';
import { now } from '../statistics/timer.js';
import type { NetworkSetup } from './row.js';

const SAMPLES = 300;
const DOMAIN = 'bench.test';
const SERVER = `import http from 'node:http'; http.createServer((request, response) => response.end('hello')).listen(3000);`;

/** Measures a GET through a gateway, and a `fetch()` into the runtime, in turns. */
export async function measureGateway({ sidecar }: NetworkSetup): Promise<{ sandbox: number[]; floor: number[] }> {
  const runtime = await NodeRuntime.create({ sidecar });
  const gateway = createGateway({ domain: DOMAIN, resolve: () => runtime });
  const server = createServer(gateway.request).listen(0, '127.0.0.1');
  const agent = new Agent({ keepAlive: true });
  try {
    await Promise.all([once(server, 'listening'), runtime.spawn(SERVER)]);
    await runtime.waitForListener({ port: 3000 });
    const { port } = server.address() as AddressInfo;
    const [sandbox, floor]: [number[], number[]] = [[], []];
    for (let round = -40; round < SAMPLES; round++) {
      const from = now();
      const text = await textOf(port, agent);
      const between = now();
      const { body } = await runtime.fetch(3000, '/');
      if (text !== 'hello' || body !== text) throw new Error(`received ${JSON.stringify([text, body])}`);
      if (round < 0) continue;
      sandbox.push(between - from);
      floor.push(now() - between);
    }
    return { sandbox, floor };
  } finally {
    agent.destroy();
    server.closeAllConnections();
    server.close();
    await runtime.dispose();
  }
}

function textOf(port: number, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent, headers: { host: `3000-one.${DOMAIN}` } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text)).on('error', reject);
    }).on('error', reject);
  });
}
