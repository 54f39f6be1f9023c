// Servers of the host machine for the tests of clients: processes, and a relay that can reset all
// connections of a client. Next: clients.mjs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { HOST } from './clients.mjs';

/** Returns the path of a command of the Debian package `debian`. */
export function commandPath(name, debian) {
  const folders = [...process.env.PATH.split(delimiter), '/usr/sbin'];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is missing: install the Debian package ${debian}`);
  return found;
}

/** Makes a folder that `remove` deletes. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'coldframe-server-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Returns a port that is free at the time of the call. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/**
 * Starts a server process that listens on `port` of the loopback, and waits until the process
 * accepts connections. Returns a function that ends the process.
 */
export async function startProcess(command, args, port, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (output += data));
  const ended = new Promise((resolve) => child.on('exit', resolve).on('error', resolve));
  let isRunning = true;
  ended.then(() => (isRunning = false));
  while (!(await accepts(port))) {
    if (!isRunning) throw new Error(`${command} has ended: ${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return async () => {
    child.kill(options.killSignal);
    await ended;
  };
}

const listen = async (server) => {
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return server.address().port;
};

/**
 * Relays connections to a port of the loopback. A connection to the port `control` resets all
 * relayed connections on the side of the client, and then ends.
 */
export async function startRelay(target) {
  const clients = new Set();
  const relay = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    clients.add(client);
    client
      .on('error', () => upstream.destroy())
      .on('close', () => {
        clients.delete(client);
        upstream.destroy();
      });
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  const controller = createServer((socket) => {
    for (const client of clients) client.resetAndDestroy();
    socket.on('error', () => {});
    socket.end();
  });
  const [port, control] = [await listen(relay), await listen(controller)];
  const close = async () => {
    for (const client of clients) client.destroy();
    await Promise.all([relay, controller].map((server) => new Promise((resolve) => server.close(resolve))));
  };
  return { port, control, close };
}

/** Returns what `expectOutput` needs for a server on `port` behind a relay. */
export async function behindRelay(port, closeServer, env = () => ({})) {
  const relay = await startRelay(port);
  const close = async () => {
    await relay.close();
    await closeServer();
  };
  const common = { HOST, PORT: `${relay.port}`, CONTROL: `${relay.control}` };
  return { ports: [relay.port, relay.control], env: { ...common, ...env(relay.port) }, close };
}
