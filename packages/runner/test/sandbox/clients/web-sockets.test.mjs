// WebSockets and socket.io against servers of this machine, through a relay that resets
// connections. Next: clients.mjs.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, test } from 'vitest';
import { load, WebSocketServer } from '../../../npm-clients/packages.mjs';
import { CLIENT_MS, expectOutput, HOST, useSidecar } from './clients.mjs';
import { behindRelay } from './servers.mjs';

useSidecar();

const listen = async (server) => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
};

async function startWebSockets() {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    if (request.url === '/refused') return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => {});
      client.on('message', (data, binary) => client.send(data, { binary }));
      if (request.url !== '/flood') return;
      for (let n = 0; n < 2000; n++) client.send(Buffer.alloc(5000, n));
      client.close();
    });
  });
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  return behindRelay(await listen(server), close, (port) => ({ SOCKET: `ws://${HOST}:${port}` }));
}

async function startSocketIo() {
  const { Server } = load('socket.io');
  const server = createServer();
  const io = new Server(server, { maxHttpBufferSize: 10e6 });
  io.on('connection', (socket) => {
    socket.on('echo', (...values) => values.pop()(values));
    socket.on('stream', (count, done) => {
      for (let n = 0; n < count; n++) socket.emit('item', n);
      done();
    });
  });
  io.of('/room').on('connection', (socket) => {
    socket.on('join', async (room, done) => {
      await socket.join(room);
      done();
    });
    socket.on('tell', (room, text) => socket.to(room).emit('told', text));
  });
  io.of('/closed').use((_socket, next) => next(new Error('not here')));
  const port = await listen(server);
  return behindRelay(
    port,
    () => io.close(),
    (relay) => ({ SERVER: `http://${HOST}:${relay}` }),
  );
}

describe.skipIf(HOST === undefined)('WebSockets', () => {
  test('ws', () => expectOutput('ws', startWebSockets), CLIENT_MS);
  test('socket.io-client', () => expectOutput('socket.io-client', startSocketIo), CLIENT_MS);
});
