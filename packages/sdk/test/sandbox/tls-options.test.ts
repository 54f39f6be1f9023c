// The options of `node` about TLS.

import { expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';
import { CERTIFICATE, KEY } from './tls-certificates.js';

usePrivateStoreFolder();

const PROGRAM = `
  const tls = require('node:tls');
  console.log(tls.DEFAULT_MIN_VERSION, tls.DEFAULT_MAX_VERSION, tls.DEFAULT_CIPHERS === 'ECDHE-RSA-AES128-GCM-SHA256');
  const identity = { cert: ${JSON.stringify(CERTIFICATE)}, key: ${JSON.stringify(KEY)} };
  const server = tls.createServer(identity, (socket) => socket.end());
  server.listen(0, () => {
    const socket = tls.connect({ port: server.address().port, rejectUnauthorized: false });
    socket.resume().on('secureConnect', () => console.log(socket.getProtocol())).on('close', () => server.close());
  });`;

const withProgram = (work: (runtime: NodeRuntime) => Promise<void>): Promise<void> =>
  withRuntime(MODES[0] as (typeof MODES)[number], { network: {} }, async (runtime) => {
    await runtime.writeFile('/workspace/main.cjs', PROGRAM);
    await work(runtime);
  });

test('options choose the default versions and suites of TLS', () =>
  withProgram(async (runtime) => {
    for (const [execArgv, expected] of [
      [[], 'TLSv1.2 TLSv1.3 false\nTLSv1.3\n'],
      [['--tls-max-v1.2'], 'TLSv1.2 TLSv1.2 false\nTLSv1.2\n'],
      [['--tls-min-v1.3'], 'TLSv1.3 TLSv1.3 false\nTLSv1.3\n'],
      [['--tls-cipher-list=ECDHE-RSA-AES128-GCM-SHA256', '--tls-max-v1.2'], 'TLSv1.2 TLSv1.2 true\nTLSv1.2\n'],
    ] as const) {
      const { stdout, stderr } = await runtime.execFile('/workspace/main.cjs', { execArgv: [...execArgv] });
      expect([stdout, stderr]).toEqual([expected, '']);
    }
  }));

test('refuses options of TLS that contradict each other', () =>
  withProgram(async (runtime) => {
    const { exitCode, stderr } = await runtime.execFile('/workspace/main.cjs', {
      execArgv: ['--tls-min-v1.3', '--tls-max-v1.2'],
    });
    expect([exitCode, stderr]).toEqual([9, 'node: either --tls-min-v1.3 or --tls-max-v1.2 can be used, not both\n']);
  }));

test('writes the key log of both sides to a file, and warns', () =>
  withProgram(async (runtime) => {
    const execArgv = ['--tls-keylog=/workspace/keys.log', '--tls-max-v1.2'];
    const { exitCode, stderr } = await runtime.execFile('/workspace/main.cjs', { execArgv });
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Using --tls-keylog makes TLS connections insecure');
    const lines = Buffer.from(await runtime.readFile('/workspace/keys.log'))
      .toString()
      .trim()
      .split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^CLIENT_RANDOM [0-9a-f]{64} [0-9a-f]{96}$/);
    expect(lines[1]).toBe(lines[0]);
  }));

test('traces the records of sockets, and warns', () =>
  withProgram(async (runtime) => {
    const traced = await runtime.execFile('/workspace/main.cjs', { execArgv: ['--trace-tls', '--tls-max-v1.2'] });
    expect(traced.stderr).toContain('Enabling --trace-tls can expose sensitive data in the resulting log.');
    const record = (direction: string, message: string) => {
      const head = `^${direction} TLS Record\nHeader:\n  Version = TLS 1.[02] \\(0x30[13]\\)\n`;
      return new RegExp(
        `${head}  Content Type = Handshake \\(22\\)\n  Length = \\d+\n(?: {4}\\w+, Length=\\d+\n)* {4}${message}, Length=\\d+$`,
        'm',
      );
    };
    for (const message of [
      'ClientHello',
      'ServerHello',
      'Certificate',
      'ServerKeyExchange',
      'ServerHelloDone',
      'ClientKeyExchange',
    ]) {
      expect(traced.stderr).toMatch(record('Sent', message));
      expect(traced.stderr).toMatch(record('Received', message));
    }
    expect(traced.stderr).toMatch(/^Sent TLS Record\nHeader:\n.*\n {2}Content Type = ChangeCipherSpec \(20\)\n {2}Length = 1$/m);
    const { stderr } = await runtime.execFile('/workspace/main.cjs', { execArgv: [] });
    expect(stderr).toBe('');
  }));
