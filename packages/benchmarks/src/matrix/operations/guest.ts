// Operations of a program in the guest other than files: bindings, children, sockets and timers.

import { ANSWER } from '../lane.js';
import { type GuestCall, guestOperation, type Operation } from '../operation.js';

/** The function `child`, which resolves with the output of a child process. */
const CHILD = `
const { spawn } = await import('node:child_process');
const child = (command, args) => new Promise((resolve, reject) => {
  let output = '';
  const process = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.stdout.setEncoding('utf8').on('data', (data) => { output += data; });
  process.on('error', reject).on('close', (code) => resolve(code + ' ' + output.trim()));
});
`;

const TCP = `
const { createConnection, createServer } = await import('node:net');
const { once } = await import('node:events');
const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
await once(server, 'listening');
const socket = createConnection(server.address().port, '127.0.0.1');
await once(socket, 'connect');
const roundTrip = () => new Promise((resolve) => {
  socket.once('data', (data) => resolve(String(data)));
  socket.write('ping');
});
`;

const HTTP = `
const { Agent, createServer, get } = await import('node:http');
const { once } = await import('node:events');
const server = createServer((request, response) => response.end('for ' + request.url)).listen(0, '127.0.0.1');
await once(server, 'listening');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const request = () => new Promise((resolve, reject) => {
  get({ port: server.address().port, host: '127.0.0.1', path: '/x', agent }, (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (part) => { body += part; }).on('end', () => resolve(body));
  }).on('error', reject);
});
`;

const calls: Readonly<Record<string, GuestCall>> = {
  binding: {
    setup: 'let asked = 0;',
    operation: `callBinding('${ANSWER}', { a: ++asked, b: 1 })`,
    waits: true,
    check: 'result === asked + 1',
    expected: 'true',
  },
  'child: node -e': {
    setup: CHILD,
    operation: "child(process.execPath, ['-e', 'console.log(6 * 7)'])",
    waits: true,
    check: 'result',
    expected: '0 42',
  },
  'child: sh -c echo': {
    setup: CHILD,
    operation: "child('sh', ['-c', 'echo hi'])",
    waits: true,
    check: 'result',
    expected: '0 hi',
  },
  'pipeline: echo | node | tr': {
    setup: CHILD,
    operation: `child('sh', ['-c', 'echo hi | "' + process.execPath + '" -e "process.stdin.pipe(process.stdout)" | tr a-z A-Z'])`,
    waits: true,
    check: 'result',
    expected: '0 HI',
  },
  'TCP round trip': {
    setup: TCP,
    operation: 'roundTrip()',
    waits: true,
    check: 'result',
    expected: 'ping',
    teardown: 'socket.destroy(); server.close();',
  },
  'HTTP request': {
    setup: HTTP,
    operation: 'request()',
    waits: true,
    check: 'result',
    expected: 'for /x',
    teardown: 'agent.destroy(); server.close();',
  },
  'setTimeout 0': {
    operation: "new Promise((resolve) => setTimeout(resolve, 0, 'late'))",
    waits: true,
    check: 'result',
    expected: 'late',
  },
  setImmediate: {
    operation: "new Promise((resolve) => setImmediate(resolve, 'late'))",
    waits: true,
    check: 'result',
    expected: 'late',
  },
};

export const guestOperations: readonly Operation[] = Object.entries(calls).map(([name, call]) =>
  guestOperation(name, "the guest's calls", () => call),
);
