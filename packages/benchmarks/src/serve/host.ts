// The process of the server that `bench:serve` measures, with a plain server of Fastify as a floor.
// The client is in another process, as every client of a server is.

import { createServer } from '@coldframe/server';
import Fastify from 'fastify';
import { KEY } from './place.js';

const [directory] = process.argv.slice(2) as [string];
const server = await createServer({ directory, apiKeys: [{ key: KEY }] });
const { port } = await server.listen(0);
const floor = Fastify();
floor.post('/echo', (request) => request.body);
const floorUrl = await floor.listen({ port: 0, host: '127.0.0.1' });

process.once('disconnect', async () => {
  await Promise.all([server.close(), floor.close()]);
  process.exit(0);
});
process.send?.({ port, floorPort: Number(new URL(floorUrl).port) });
