// express: routes, a JSON body and an ETag over loopback.

import { once } from 'node:events';
import express from 'express';

const app = express();
app.use(express.json());
app.get('/hello/:name', (request, response) => response.send({ hello: request.params.name, query: request.query }));
app.post('/sum', (request, response) => response.status(201).json({ sum: request.body.reduce((a, b) => a + b, 0) }));
app.use((error, _request, response, _next) => response.status(error.status ?? 500).send(error.type));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${server.address().port}`;
const hello = await fetch(`${base}/hello/world?a=1&a=2`);
console.log(hello.status, hello.headers.get('etag'), hello.headers.get('x-powered-by'), await hello.json());
const headers = { 'content-type': 'application/json' };
const sum = await fetch(`${base}/sum`, { method: 'POST', headers, body: '[1,2,3]' });
console.log(sum.status, await sum.text());
const wrong = await fetch(`${base}/sum`, { method: 'POST', headers, body: '[1,' });
console.log(wrong.status, await wrong.text());
console.log((await fetch(`${base}/nowhere`)).status);
server.closeAllConnections();
server.close();
