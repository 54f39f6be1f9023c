// ws: a server and a client: text, binary, ping and close.

import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
let closed;
server.on('connection', (socket, request) => {
  console.log('server: connection to', request.url);
  socket.on('message', (data, binary) => socket.send(binary ? data : `echo ${data}`, { binary }));
  // Which side hears of the end first is left open: they are told in a fixed order.
  closed = once(socket, 'close');
});
const client = new WebSocket(`ws://127.0.0.1:${server.address().port}/chat`);
await once(client, 'open');
client.send('hello');
console.log(String((await once(client, 'message'))[0]));
client.send(Buffer.alloc(70_000, 7));
console.log((await once(client, 'message'))[0].length);
client.ping('p');
console.log('pong', String((await once(client, 'pong'))[0]));
client.close(1000, 'bye');
console.log('client: closed', ...(await once(client, 'close')).map(String));
console.log('server: closed', ...(await closed).map(String));
server.close(() => console.log('server: ended'));
