// Tests programs that close a descriptor below a stream of their own. Node waits for ever. In a
// runtime the stream fails with EBADF, because no event would ever reach the stream.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { NodeRuntime } from '../../src/index.js';

let runtime: NodeRuntime;
beforeAll(async () => {
  runtime = await NodeRuntime.create();
});
afterAll(() => runtime.dispose());

const PRELUDE = `
import { closeSync } from 'node:fs';
import dgram from 'node:dgram';
import net from 'node:net';
import { spawn } from 'node:child_process';
`;

test.each([
  [
    'a pipe of a child',
    `
const child = spawn('sleep', ['100']);
child.stdout.on('error', ({ code }) => console.log(code));
child.stderr.on('error', ({ code }) => { console.log(code); child.kill('SIGKILL'); });
closeSync(child.stdout._handle.fd);
closeSync(child.stderr._handle.fd);`,
    'EBADF\nEBADF\n',
  ],
  [
    'a connection',
    `const server = net.createServer((socket) => socket.on('close', () => server.close())).listen(0, () => {
  const socket = net.connect(server.address().port, () => closeSync(socket._handle.fd));
  socket.on('error', ({ code }) => console.log(code));
});`,
    'EBADF\n',
  ],
  [
    'a server',
    `const server = net.createServer(() => {}).listen(0, () => closeSync(server._handle.fd));
server.on('error', ({ code }) => { console.log(code); server.close(); });`,
    'EBADF\n',
  ],
  [
    'a socket of UDP',
    `const socket = dgram.createSocket('udp4');
socket.on('error', ({ code }) => { console.log(code); socket.close(); });
socket.bind(0, () => closeSync(socket[Object.getOwnPropertySymbols(socket).find((key) => socket[key]?.handle)].handle.fd));`,
    'EBADF\n',
  ],
])('%s', async (_, code, stdout) => {
  expect(await runtime.exec(PRELUDE + code, { timeout: 20_000 })).toMatchObject({ stdout, stderr: '', exitCode: 0 });
});
