// HTTP clients and clients of models against a server of this machine, without changes to the
// packages. The programs are in npm-clients/programs. Next: clients.mjs.

import { describe, test } from 'vitest';
import { CLIENT_MS, expectOutput, HOST, useSidecar } from './clients.mjs';
import { startHttpServer } from './http-server.mjs';

useSidecar();

async function start() {
  const { port, close } = await startHttpServer();
  const keys = { OPENAI_API_KEY: 'placeholder', ANTHROPIC_API_KEY: 'placeholder' };
  return { ports: [port], env: { SERVER: `http://${HOST}:${port}`, SOCKET: `ws://${HOST}:${port}`, ...keys }, close };
}

const PROGRAMS = ['axios', 'got', 'node-fetch', 'undici', 'undici-older', 'openai', 'anthropic'];

describe.skipIf(HOST === undefined)('HTTP clients', () => {
  test.each(PROGRAMS)('%s', (program) => expectOutput(program, start), CLIENT_MS);
});
