// An HTTP service on the loopback, in place of the service of a model provider. The service records
// the requests, and replies with the messages of a script in order.

import { once } from 'node:events';
import { createServer } from 'node:http';

async function readJson(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

/**
 * Starts a service that replies to each `POST path` with the next message of `script`. A message
 * may be a function, which the service calls when the request has arrived.
 */
export async function startService(path, script) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const body = await readJson(request);
    requests.push({ headers: request.headers, body });
    const next = script[requests.length - 1];
    const known = request.method === 'POST' && request.url === path && next !== undefined;
    const message = typeof next === 'function' ? next() : next;
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(known ? message : { error: { type: 'not_found_error', message: 'not found' } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
