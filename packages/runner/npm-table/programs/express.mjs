// express: routes, a JSON body and an ETag over loopback.

import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import express from 'express';

const app = express();
app.use(express.json());
app.get('/hello/:name', (incoming, response) => response.send({ hello: incoming.params.name, query: incoming.query }));
app.post('/sum', (incoming, response) => response.status(201).json({ sum: incoming.body.reduce((a, b) => a + b, 0) }));
app.use((error, _incoming, response, _next) => response.status(error.status ?? 500).send(error.type));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

async function ask(method, path, body, headers = {}) {
  const asked = request({ host: '127.0.0.1', port: server.address().port, method, path, headers });
  asked.end(body);
  const [response] = await once(asked, 'response');
  const { etag, 'content-type': type, 'x-powered-by': by } = response.headers;
  console.log(response.statusCode, etag, type, by, await text(response));
}

const json = { 'content-type': 'application/json' };
await ask('GET', '/hello/world?a=1&a=2');
await ask('POST', '/sum', '[1,2,3]', json);
await ask('POST', '/sum', '[1,', json);
await ask('GET', '/nowhere');
server.closeAllConnections();
server.close();
