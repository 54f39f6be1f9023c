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
export const connectEcho = ({ host, echo }: PeerPorts): string =>
  timed(
    `const net = require('node:net');
    const once = () => new Promise((resolve, reject) => {
      const socket = net.connect({ port: ${echo}, host: '${host}', noDelay: true });
      socket.on('error', reject).on('connect', () => socket.write('x')).on('data', () => {
        socket.destroy();
        resolve();
      });
    });`,
    { warmup: 20, count: 100 },
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

/** Fetches 1 KiB over a resumed session of TLS. */
export const resumedHandshake = (ports: PeerPorts): string =>
  timed(
    `${get(ports, 'session')}
    const once = async (n) => {
      if (await get() !== (n > 0)) throw new Error('not resumed');
    };`,
    { warmup: 10, count: 100 },
  );

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

/** Looks up another name each time. */
export const freshLookUp = ({ host }: PeerPorts): string =>
  timed(
    `const dns = require('node:dns');
    const once = async (n) => {
      const { address } = await dns.promises.lookup('name-' + process.pid + '-' + n + '.bench.test', { family: 4 });
      if (address !== '${host}') throw new Error('resolved to ' + address);
    };`,
    { warmup: 5, count: 60 },
  );
