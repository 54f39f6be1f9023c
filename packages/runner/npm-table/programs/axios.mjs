// axios: requests, interceptors and errors over loopback.

import { once } from 'node:events';
import { createServer } from 'node:http';
import axios from 'axios';

const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    response.writeHead(request.url === '/teapot' ? 418 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ method: request.method, url: request.url, body, token: request.headers['x-token'] }));
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const client = axios.create({ baseURL: `http://127.0.0.1:${server.address().port}` });
client.interceptors.request.use((config) => {
  config.headers.set('x-token', 'secret');
  return config;
});
console.log((await client.get('/a', { params: { q: 'x y', list: [1, 2] } })).data);
console.log((await client.post('/b', { value: 1 })).data);
const failure = await client.get('/teapot').catch((error) => error);
console.log(failure.name, failure.code, failure.message, failure.response.status);
server.closeAllConnections();
server.close();
