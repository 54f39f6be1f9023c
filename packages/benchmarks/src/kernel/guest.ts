// Declares the rows of the kernel benchmark that run inside a guest. The sandbox and the pinned
// Node run equal programs.
//
// "The kernel's share" of a call of `node:fs` is everything below Node's library: the binding, the
// call out of WebAssembly, the kernel's work, and the return. The program calls the binding as the
// library does (`--expose-internals`), so the share includes more than the kernel's own time. The
// time of a child ends with its `close` event. A new row needs an entry in `declared`.

import { runOnBothSides } from '../sandbox/both-sides.js';
import type { KernelRow } from './row.js';

interface Shape {
  samples: number;
  /** Operations per sample. */
  count: number;
}

const CALLS: Shape = { samples: 21, count: 5_000 };

/** Makes a program that times `operation`, an expression, `count` times per sample. */
const calls = (setup: string, operation: string, check: string, { samples, count }: Shape = CALLS): string => `
const { internalBinding } = require('internal/test/binding');
const fs = require('node:fs');
const binding = internalBinding('fs');
const path = fs.mkdtempSync(require('node:os').tmpdir() + '/kernel-') + '/file';
fs.writeFileSync(path, Buffer.alloc(4096, 'x'));
${setup}
let result;
const sample = () => {
  const from = performance.now();
  for (let i = 0; i < ${count}; i++) result = ${operation};
  return (performance.now() - from) / ${count};
};
sample();
const samples = Array.from({ length: ${samples} }, sample);
const check = String(${check});
fs.rmSync(require('node:path').dirname(path), { recursive: true });
console.log(JSON.stringify({ samples, check }));
`;

/**
 * Makes a program that times a child until its `close`. `start` is an expression that returns the
 * child.
 */
const children = (start: string, expected: string, samples: number): string => `
const { spawn } = require('node:child_process');
const once = () => new Promise((resolve, reject) => {
  const from = performance.now();
  let output = '';
  const child = ${start};
  child.stdout.setEncoding('utf8').on('data', (data) => { output += data; });
  child.on('error', reject).on('close', (code) => {
    if (code !== 0 || output !== ${JSON.stringify(expected)})
      reject(new Error('exit code ' + code + ', ' + JSON.stringify(output)));
    else resolve(performance.now() - from);
  });
});
(async () => {
  for (let i = 0; i < 3; i++) await once();
  const samples = [];
  for (let i = 0; i < ${samples}; i++) samples.push(await once());
  console.log(JSON.stringify({ samples, check: 'ok' }));
})();
`;

const roundTrips = `
const { createConnection, createServer } = require('node:net');
const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1', () => {
  const socket = createConnection(server.address().port, '127.0.0.1');
  const samples = [];
  let from;
  const next = () => {
    from = performance.now();
    socket.write('ping');
  };
  socket.on('connect', next).on('data', () => {
    samples.push(performance.now() - from);
    if (samples.length < 2_000) return next();
    socket.destroy();
    server.close();
    console.log(JSON.stringify({ samples: samples.slice(100), check: 'ok' }));
  });
});
`;

/** Programs are CommonJS and print `{ samples, check }`, with samples in milliseconds. */
const declared: readonly (Omit<KernelRow, 'measure'> & { program: string })[] = [
  {
    name: "stat: the kernel's share",
    unit: 'µs',
    target: { promise: 'K1', atMost: 2 },
    program: calls('', 'binding.stat(path, false, undefined, false)', 'result[8]'),
  },
  { name: 'stat: fs.statSync', unit: 'µs', program: calls('', 'fs.statSync(path)', 'result.size') },
  {
    name: "read of 4 KiB: the kernel's share",
    unit: 'µs',
    target: { promise: 'K2', atMost: 4 },
    program: calls(
      "const fd = fs.openSync(path); const data = Buffer.alloc(4096); process.on('exit', () => fs.closeSync(fd));",
      'binding.read(fd, data, 0, 4096, 0)',
      "result + ' ' + data[4095]",
    ),
  },
  {
    name: 'read of 4 KiB: fs.readSync',
    unit: 'µs',
    program: calls(
      "const fd = fs.openSync(path); const data = Buffer.alloc(4096); process.on('exit', () => fs.closeSync(fd));",
      'fs.readSync(fd, data, 0, 4096, 0)',
      "result + ' ' + data[4095]",
    ),
  },
  { name: 'open, read 4 KiB, close: fs.readFileSync', unit: 'µs', program: calls('', 'fs.readFileSync(path)', 'result.length') },
  { name: 'a round trip over loopback TCP', unit: 'µs', program: roundTrips },
  {
    name: 'a child: node -e 0',
    unit: 'ms',
    target: { promise: 'K3', atMost: 2 },
    program: children("spawn(process.execPath, ['-e', '0'])", '', 40),
  },
  {
    name: "a child: sh -c 'echo hi | cat'",
    unit: 'ms',
    target: { promise: 'K4', atMost: 25 },
    program: children("spawn('sh', ['-c', 'echo hi | cat'])", 'hi\n', 40),
  },
  {
    name: 'a child: cat a | node x.js | grep y > z',
    unit: 'ms',
    program: children(
      `(() => {
  const fs = require('node:fs');
  const cwd = fs.mkdtempSync(require('node:os').tmpdir() + '/pipeline-');
  fs.writeFileSync(cwd + '/a', 'x\\ny\\n');
  fs.writeFileSync(cwd + '/x.js', 'process.stdin.pipe(process.stdout)');
  const env = { ...process.env, NODE: process.execPath };
  return spawn('sh', ['-c', 'cat a | "$NODE" x.js | grep y > z; cat z; rm -r "$PWD"'], { cwd, env });
})()`,
      'y\n',
      20,
    ),
  },
];

export const guestRows: readonly KernelRow[] = declared.map(({ program, ...row }) => ({
  ...row,
  measure: (sidecar) => runOnBothSides(program, sidecar),
}));
