// ws: messages, fragments, pings, compression, floods, streams and resets.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import WebSocket, { createWebSocketStream } from 'ws';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const url = process.env.SOCKET;
const resetAll = () => once(createConnection(process.env.CONTROL, process.env.HOST).resume(), 'close');

async function open(path, options) {
  const socket = new WebSocket(`${url}${path}`, ['first', 'second'], options);
  await once(socket, 'open');
  return socket;
}

const socket = await open('/echo');
console.log('protocol', socket.protocol);
socket.send('text ☃');
console.log('text', String((await once(socket, 'message'))[0]));
const large = Buffer.alloc(6_000_000, 'large message ');
socket.send(large);
const [echoed, isBinary] = await once(socket, 'message');
console.log('binary', echoed.length, isBinary, digest(echoed) === digest(large));
socket.send('one ', { fin: false });
socket.send('two ', { fin: false });
socket.send('three', { fin: true });
console.log('fragments', String((await once(socket, 'message'))[0]));
socket.ping('ping');
console.log('pong', String((await once(socket, 'pong'))[0]));
socket.close(4000, 'done');
const [code, reason] = await once(socket, 'close');
console.log('close', code, String(reason));

const deflated = await open('/echo', { perMessageDeflate: { threshold: 0 } });
console.log('extension', deflated.extensions.startsWith('permessage-deflate'));
deflated.send('x'.repeat(1_000_000));
console.log('deflated', (await once(deflated, 'message'))[0].length);
deflated.terminate();
await once(deflated, 'close');

const flood = await open('/flood');
let [count, bytes] = [0, 0];
flood.on('message', (data) => {
  count++;
  bytes += data.length;
});
await once(flood, 'close');
console.log('flood', count, bytes);

const stream = createWebSocketStream(await open('/echo'), { encoding: 'utf8' });
stream.write('through a stream');
console.log('stream', (await once(stream, 'data'))[0]);
stream.destroy();

const held = await open('/echo');
const ended = new Promise((resolve) => held.on('error', ({ code }) => console.log('error', code)).on('close', resolve));
await resetAll();
console.log('reset', await ended);
const again = await open('/echo');
again.send('again');
console.log('reconnected', String((await once(again, 'message'))[0]));
again.close();
await once(again, 'close');

const builtIn = new globalThis.WebSocket(`${url}/echo`, 'first');
await new Promise((resolve) => builtIn.addEventListener('open', resolve));
builtIn.binaryType = 'arraybuffer';
builtIn.send(new Uint8Array(300_000).fill(7));
const { data } = await new Promise((resolve) => builtIn.addEventListener('message', resolve));
console.log('built in', data.byteLength, digest(new Uint8Array(data)));
const lost = new Promise((resolve) => builtIn.addEventListener('close', resolve));
await resetAll();
console.log('built in reset', (await lost).code);

await once(new WebSocket(`${url}/refused`), 'error').then(([{ message }]) => console.log('refused', message));
