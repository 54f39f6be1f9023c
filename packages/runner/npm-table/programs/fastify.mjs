// fastify: schemas and hooks, with injected requests.

import Fastify from 'fastify';

const app = Fastify();
app.addHook('onSend', async (_request, reply, payload) => {
  reply.header('x-length', payload.length);
  return payload;
});
const schema = { body: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } };
app.post('/hello', { schema }, async (request) => ({ hello: request.body.name }));
app.get('/item/:id', async (request) => ({ id: request.params.id }));
for (const options of [
  { method: 'POST', url: '/hello', payload: { name: 'x' } },
  { method: 'POST', url: '/hello', payload: {} },
  { method: 'GET', url: '/item/7' },
  { method: 'GET', url: '/nowhere' },
]) {
  const response = await app.inject(options);
  console.log(response.statusCode, response.headers['content-type'], response.headers['x-length'], response.body);
}
await app.close();
