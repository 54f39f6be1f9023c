// The programs of the network benchmark, which run in the sandbox and in the pinned Node. A program
// is CommonJS and prints `{ samples, check }`, with samples in milliseconds.

import { CERTIFICATE } from './certificate.js';
import { type PeerPorts, STREAM_BYTES } from './peer.js';

/** Makes a program that times `count` calls of `once` in sequence, after `warmup` calls. */
const timed = (setup: string, { warmup, count }: { warmup: number; count: number }): string => `
${setup}
(async () => {
  const samples = [];
  for (let i = 0; i < ${warmup + count}; i++) {
    const from = performance.now();
    await once(i);
    samples.push(performance.now() - from);
  }
  console.log(JSON.stringify({ samples: samples.slice(${warmup}), check: 'ok' }));
  process.exit();
})();
`;

/** Connects, sends one byte and receives the byte. */
export const connectEcho = ({ host, echo }: PeerPorts, repeats = { warmup: 20, count: 100 }): string =>
  timed(
    `const net = require('node:net');
    const once = () => new Promise((resolve, reject) => {
      const socket = net.connect({ port: ${echo}, host: '${host}', noDelay: true });
      socket.on('error', reject).on('connect', () => socket.write('x')).on('data', () => {
        socket.destroy();
        resolve();
      });
    });`,
    repeats,
  );

/** Sends one byte over an open connection and receives the byte. */
export const roundTrip = ({ host, echo }: PeerPorts): string =>
  timed(
    `const net = require('node:net');
    let received;
    const socket = net.connect({ port: ${echo}, host: '${host}', noDelay: true });
    const connected = new Promise((resolve) => socket.on('connect', resolve));
    socket.on('data', () => received());
    const once = async () => {
      await connected;
      const reply = new Promise((resolve) => { received = resolve; });
      socket.write('x');
      await reply;
    };`,
    { warmup: 200, count: 1_000 },
  );

/** Fetches 1 KiB over a connection that stays open. */
export const keptFetch = ({ host, http }: PeerPorts): string =>
  timed(
    `const once = async () => {
      const response = await fetch('http://${host}:${http}/');
      if ((await response.arrayBuffer()).byteLength !== 1024) throw new Error('wrong length');
    };`,
    { warmup: 40, count: 200 },
  );

/** Receives a stream, and counts its bytes. */
export const receiveStream = ({ host, stream }: PeerPorts): string =>
  timed(
    `const net = require('node:net');
    const once = () => new Promise((resolve, reject) => {
      let bytes = 0;
      net.connect(${stream}, '${host}').on('error', reject).on('data', (data) => { bytes += data.length; }).on('end', () => {
        if (bytes === ${STREAM_BYTES}) resolve();
        else reject(new Error('received ' + bytes + ' bytes'));
      });
    });`,
    { warmup: 1, count: 3 },
  );

const get = ({ host, https }: PeerPorts, options: string): string => `
  const https = require('node:https');
  const common = { host: '${host}', port: ${https}, ca: ${JSON.stringify(CERTIFICATE)}, servername: 'bench.test', agent: false };
  const get = () => new Promise((resolve, reject) => {
    const request = https.get({ ...common, ${options} }, (response) => {
      let bytes = 0;
      response.on('data', (data) => { bytes += data.length; });
      response.on('end', () => (bytes === 1024 ? resolve(isReused) : reject(new Error('wrong length'))));
    });
    let isReused;
    request.on('error', reject).on('socket', (socket) => {
      socket.on('secureConnect', () => { isReused = socket.isSessionReused(); });
      socket.on('session', (next) => { session = next; });
    });
  });
  let session;`;

/** Fetches 1 KiB over a new session of TLS. */
export const fullHandshake = (ports: PeerPorts): string =>
  timed(
    `${get(ports, '')}
    const once = async () => {
      if (await get()) throw new Error('resumed');
    };`,
    { warmup: 10, count: 100 },
  );

/**
 * Fetches 1 KiB over a resumed session of TLS. A full handshake before each sample provides the
 * ticket, because the sandbox uses a ticket once.
 */
export const resumedHandshake = (ports: PeerPorts): string => `
${get(ports, 'session')}
(async () => {
  const samples = [];
  for (let i = 0; i < 60; i++) {
    session = undefined;
    await get();
    const from = performance.now();
    if (!(await get())) throw new Error('not resumed');
    samples.push(performance.now() - from);
  }
  console.log(JSON.stringify({ samples: samples.slice(10), check: 'ok' }));
  process.exit();
})();
`;

/** Receives a stream over TLS, and counts its bytes. */
export const receiveSecureStream = ({ host, secureStream }: PeerPorts): string =>
  timed(
    `const tls = require('node:tls');
    const options = { host: '${host}', port: ${secureStream}, ca: ${JSON.stringify(CERTIFICATE)}, servername: 'bench.test' };
    const once = () => new Promise((resolve, reject) => {
      let bytes = 0;
      tls.connect(options).on('error', reject).on('data', (data) => { bytes += data.length; }).on('end', () => {
        if (bytes === ${STREAM_BYTES}) resolve();
        else reject(new Error('received ' + bytes + ' bytes'));
      });
    });`,
    { warmup: 1, count: 3 },
  );

/** Looks up one name, which is in the cache after the first lookup. */
export const cachedLookUp = ({ host }: PeerPorts): string =>
  timed(
    `const dns = require('node:dns');
    const once = async () => {
      const { address } = await dns.promises.lookup('cached.bench.test', { family: 4 });
      if (address !== '${host}') throw new Error('resolved to ' + address);
    };`,
    { warmup: 20, count: 500 },
  );

/**
 * Queries another name each time. Node queries the peer itself, and the sandbox queries the peer
 * through the edge process.
 */
export const freshQuery = ({ host, dns }: PeerPorts): string =>
  timed(
    `const dns = require('node:dns');
    const resolver = new dns.promises.Resolver();
    resolver.setServers(['${host}:${dns}']);
    const once = async (n) => {
      const [address] = await resolver.resolve4('name-' + process.pid + '-' + n + '.bench.test');
      if (address !== '${host}') throw new Error('resolved to ' + address);
    };`,
    { warmup: 5, count: 60 },
  );

/** Makes 40 round trips with pauses, so that the program leaves the processor idle. */
export const pausedRoundTrips = ({ host, echo }: PeerPorts): string => `
const net = require('node:net');
const socket = net.connect({ port: ${echo}, host: '${host}', noDelay: true });
socket.on('error', (error) => { throw error; });
(async () => {
  await new Promise((resolve) => socket.on('connect', resolve));
  const samples = [];
  for (let i = -5; i < 40; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 60));
    const from = performance.now();
    const reply = new Promise((resolve) => socket.once('data', resolve));
    socket.write('x');
    await reply;
    if (i >= 0) samples.push(performance.now() - from);
  }
  console.log(JSON.stringify({ samples, check: 'ok' }));
  process.exit();
})();
`;

/** Connects five times. The first connection of a sidecar starts the edge process. */
export const firstConnections = (ports: PeerPorts): string => connectEcho(ports, { warmup: 0, count: 5 });

const secureSocket = ({ host, secureEcho }: PeerPorts): string => `
import tls from 'node:tls';
const secureContext = tls.createSecureContext({ ca: ${JSON.stringify(CERTIFICATE)} });
const open = (done) => tls.connect({ port: ${secureEcho}, host: '${host}', servername: 'bench.test', secureContext }, done);`;

const plainSocket = ({ host, echo }: PeerPorts): string => `
import net from 'node:net';
const open = (done) => net.connect({ port: ${echo}, host: '${host}', noDelay: true }, done);`;

/**
 * Opens `count` connections in sequence after a line on stdin, and transfers a byte over each after
 * the next line. Prints a line after the first connection, the times of all connections in
 * milliseconds, and the number of transferred bytes.
 */
export const idleConnections = (ports: PeerPorts, count: number, isSecure: boolean): string => `
import readline from 'node:readline';
${isSecure ? secureSocket(ports) : plainSocket(ports)}
const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const connect = () => new Promise((resolve, reject) => {
  const socket = open(() => resolve(socket)).on('error', reject);
});
(await connect()).destroy();
console.log('ready');
await lines.next();
const [sockets, times] = [[], []];
for (let n = 0; n < ${count}; n++) {
  const from = performance.now();
  sockets.push(await connect());
  times.push(performance.now() - from);
}
console.log(JSON.stringify(times));
await lines.next();
let replied = 0;
await Promise.all(sockets.map((socket) => new Promise((resolve, reject) => {
  socket.on('error', reject).once('data', () => { replied++; resolve(); });
  socket.write('x');
})));
console.log(replied);
process.exit();
`;
