// socket.io-client: both transports, upgrades, binary messages, rooms and reconnects.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { io } from 'socket.io-client';

const url = process.env.SERVER;
const resetAll = () => once(createConnection(process.env.CONTROL, process.env.HOST).resume(), 'close');
const event = (socket, name) => new Promise((resolve) => socket.once(name, (...values) => resolve(values)));

for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
  const socket = io(url, { transports, reconnectionDelay: 10, forceNew: true });
  await event(socket, 'connect');
  if (transports.length === 2 && socket.io.engine.transport.name === 'polling') await event(socket.io.engine, 'upgrade');
  console.log(transports.join(), socket.io.engine.transport.name);
  console.log('acknowledged', await socket.emitWithAck('echo', { text: '☃' }, [1, 2, 3]));
  const binary = await socket.emitWithAck('echo', Buffer.alloc(400_000, 'b'));
  console.log(
    'binary',
    binary[0].length,
    binary[0].every((byte) => byte === 98),
  );
  const gathered = [];
  socket.on('item', (n) => gathered.push(n));
  await socket.emitWithAck('stream', 500);
  console.log(
    'streamed',
    gathered.length,
    gathered.every((n, at) => n === at),
  );
  const disconnected = event(socket, 'disconnect');
  const connected = event(socket, 'connect');
  await resetAll();
  console.log('disconnect', (await disconnected)[0]);
  await connected;
  console.log('reconnected', await socket.emitWithAck('echo', 'again'));
  socket.disconnect();
}

const [one, two] = [io(`${url}/room`, { forceNew: true }), io(`${url}/room`, { forceNew: true })];
await Promise.all([one, two].map((socket) => socket.emitWithAck('join', 'a')));
const told = event(two, 'told');
one.emit('tell', 'a', 'hello');
console.log('room', await told);
one.disconnect();
two.disconnect();
const refused = io(`${url}/closed`, { forceNew: true });
console.log('refused', (await event(refused, 'connect_error'))[0].message);
refused.disconnect();
