// got: JSON, redirects, encodings, streams, retries, aborts, timeouts, resets and connections that
// are kept alive.
import { createHash } from 'node:crypto';
import http from 'node:http';
import { pipeline } from 'node:stream/promises';

// got makes an `Intl.ListFormat` when it is loaded. The sandbox has no `Intl`.
globalThis.Intl ??= { ListFormat: class ListFormat {} };
const { default: got } = await import('got');

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const agent = new http.Agent({ keepAlive: true });
const client = got.extend({ prefixUrl: process.env.SERVER, agent: { http: agent }, retry: { limit: 0 } });

const json = await client('json', { searchParams: { a: 'ä b' } }).json();
console.log('json', json.url);
const redirected = await client('redirect');
console.log('redirect', new URL(redirected.url).pathname, redirected.redirectUrls.length);
for (const encoding of ['gzip', 'br', 'deflate']) {
  const { rawBody } = await client('encoded', { headers: { 'accept-encoding': encoding } });
  console.log(encoding, rawBody.length, digest(rawBody));
}
const large = await client('large?bytes=8000000').buffer();
console.log('large', large.length, digest(large));
const hash = createHash('sha256');
await pipeline(client.stream('large?bytes=3000000'), hash);
console.log('stream', hash.digest('hex').slice(0, 16));
console.log('upload', await client.post('digest', { body: Buffer.alloc(5_000_000, 'u') }).text());
console.log('echo', await client.post('echo', { json: { text: '☃' } }).json());
await client('status/404').catch(({ code, response }) => console.log('error', code, response.body));
const retried = await client('fail-twice', {
  retry: { limit: 3, calculateDelay: ({ attemptCount }) => (attemptCount > 3 ? 0 : 1) },
});
console.log('retry', retried.body, retried.retryCount);
const controller = new AbortController();
const aborted = client('never', { signal: controller.signal });
await client('until-never');
controller.abort();
await aborted.catch(({ name }) => console.log('abort', name));
await client('until-aborted');
await client('never', { timeout: { response: 50 } }).catch(({ code, event }) => console.log('timeout', code, event));
await client('reset').catch(({ code }) => console.log('reset', code));
await client('reset-body').catch(({ code }) => console.log('reset in the body', code));
const used = new Set();
for (let n = 0; n < 10; n++) used.add((await client('json')).headers['x-connection']);
console.log('connections', used.size);
agent.destroy();
