// Tests the terminal's protocol with the client that the page and the command use.

import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Client } from '../../dist/client/client.js';
import { type Socket, TERMINAL_PROTOCOL, Terminal, terminalUrl } from '../../dist/client/terminal.js';
import { type Harness, KEY, startServer } from './harness.js';

let server: Harness;
let client: Client;
let id: string;

beforeAll(async () => {
  server = await startServer();
  client = new Client({ url: server.url, apiKey: KEY });
  id = (await client.create({ envVars: { FROM: 'sandbox' } })).sandboxID;
});
afterAll(() => server.close());

interface Opened {
  terminal: Terminal;
  /** Resolves when the output contains `text`. */
  until(text: string): Promise<void>;
  end: Promise<{ exitCode?: number; message?: string }>;
}

function open(command: readonly string[], { key = KEY, sandbox = id } = {}): Opened {
  const socket = new WebSocket(terminalUrl({ url: server.url, apiKey: key }, sandbox), TERMINAL_PROTOCOL);
  let output = '';
  let check = (): void => {};
  let terminal: Terminal | undefined;
  const end = new Promise<{ exitCode?: number; message?: string }>((resolve) => {
    terminal = new Terminal(
      socket as unknown as Socket,
      key,
      { cols: 90, rows: 30, command, envs: { OWN: '1' } },
      {
        onOutput: (bytes) => {
          output += Buffer.from(bytes).toString('utf8');
          check();
        },
        onEnd: resolve,
      },
    );
  });
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      check = () => output.includes(text) && resolve();
      check();
    });
  return { terminal: terminal as Terminal, until, end };
}

const ECHO = [
  'node',
  '-e',
  'console.log("ready"); process.stdin.on("data", (d) => d == "end\\n" ? process.exit(7) : console.log("got " + d))',
];

test('passes input and output, and reports the exit code', async () => {
  const { terminal, until, end } = open(ECHO);
  await until('ready');
  terminal.write(Uint8Array.from(Buffer.from('grüße\n')));
  await until('got grüße');
  terminal.resize({ cols: 100, rows: 40 });
  terminal.write(Uint8Array.from(Buffer.from('end\n')));
  expect(await end).toEqual({ exitCode: 7 });
});

test('the program has the environment of the sandbox and of the terminal', async () => {
  const { until, end } = open(['node', '-p', '[process.env.FROM, process.env.OWN, process.env.TERM, process.cwd()].join()']);
  await until('sandbox,1,xterm-256color,/home/user');
  expect(await end).toEqual({ exitCode: 0 });
});

test('the end of the connection ends the program', async () => {
  const { terminal, until } = open(['node', '-e', 'console.log(process.pid); setInterval(() => {}, 1000)']);
  await until('\n');
  const count = async () => (await runLines('ps -ef || ps')).filter((line) => line.includes('setInterval')).length;
  expect(await count()).toBeGreaterThan(0);
  terminal.close();
  await expect.poll(count).toBe(0);
});

async function runLines(command: string): Promise<string[]> {
  const agent = client.agent(await client.get(id));
  let output = '';
  for await (const event of agent.start({ cmd: '/bin/bash', args: ['-c', command] })) {
    if (event.type === 'stdout') output += Buffer.from(event.bytes).toString('utf8');
  }
  return output.split('\n');
}

test.each([
  ['a wrong key', { key: 'wrong' }, 'The key is not valid'],
  ['the key of another tenant', { key: 'other' }, 'was not found'],
  ['an unknown sandbox', { sandbox: 'i00000000000000000000' }, 'was not found'],
])('refuses %s', async (_, options, message) => {
  expect((await open(ECHO, options).end).message).toContain(message);
});

test('refuses a command that does not exist', async () => {
  expect((await open(['no-such-command']).end).message).toContain('no-such-command');
});

test('the end of the sandbox ends its terminals', async () => {
  const { sandboxID } = await client.create();
  const { until, end } = open(ECHO, { sandbox: sandboxID });
  await until('ready');
  await client.kill(sandboxID);
  expect((await end).exitCode).not.toBe(7);
});

test.each(['not JSON', '{"type":"resize","cols":1,"rows":1}', '{"type":"open","apiKey":"x","cols":0,"rows":1}'])(
  'refuses the first message %s',
  async (message) => {
    const socket = new WebSocket(terminalUrl(client.place, id), TERMINAL_PROTOCOL);
    await once(socket, 'open');
    socket.send(message);
    const [answer] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(answer)).type).toBe('error');
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1008);
  },
);

test('refuses a page of another origin', async () => {
  const socket = new WebSocket(terminalUrl(client.place, id), TERMINAL_PROTOCOL, { origin: 'http://evil.test' });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toContain('403');
});

test('a client that does not read makes the program wait', async () => {
  const socket = new WebSocket(terminalUrl(client.place, id), TERMINAL_PROTOCOL);
  await once(socket, 'open');
  const program = 'for (let n = 0; n < 200; n++) process.stdout.write("x".repeat(65536)); console.log("end")';
  socket.send(JSON.stringify({ type: 'open', apiKey: KEY, cols: 80, rows: 24, command: ['node', '-e', program] }));
  await once(socket, 'message');
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  socket.resume();
  let bytes = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) bytes += data.length;
  });
  await once(socket, 'close');
  // The first message may have been output.
  expect(bytes).toBeGreaterThanOrEqual(199 * 65_536);
});
