// ioredis: values, pipelines, transactions, subscriptions, blocked commands and reconnects.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { Redis } from 'ioredis';

const { HOST: host, PORT: port } = process.env;
const resetAll = () => once(createConnection(process.env.CONTROL, host).resume(), 'close');
const options = { host, port, retryStrategy: () => 10 };
const redis = new Redis(options);
const codes = new Set();
redis.on('error', ({ code }) => codes.add(code));

console.log('set', await redis.set('key', 'välue'), await redis.get('key'), await redis.get('missing'));
console.log('increment', await redis.incr('count'), await redis.incrby('count', 41));
await redis.hset('hash', { a: 1, b: 'two' });
console.log('hash', await redis.hgetall('hash'));
const large = Buffer.alloc(20_000_000, 'large value ');
await redis.set('large', large);
console.log('large', (await redis.getBuffer('large')).equals(large));
const pipeline = redis.pipeline();
for (let n = 0; n < 10_000; n++) pipeline.set(`key:${n}`, `value ${n}`).get(`key:${n}`);
const results = await pipeline.exec();
console.log(
  'pipeline',
  results.length,
  results.every(([error, value], at) => error === null && (at % 2 === 0 ? value === 'OK' : value === `value ${(at - 1) / 2}`)),
);
console.log('multi', await redis.multi().incr('count').get('count').exec());
console.log('script', await redis.eval('return {KEYS[1], ARGV[1]}', 1, 'k', 'v'));
let scanned = 0;
for await (const keys of redis.scanStream({ match: 'key:*', count: 1000 })) scanned += keys.length;
console.log('scan', scanned >= 10_000);
await redis.hget('key', 'x').catch(({ name, message }) => console.log(name, message));

const subscriber = new Redis(options);
subscriber.on('error', ({ code }) => codes.add(code));
await subscriber.subscribe('news');
const gathered = new Promise((resolve) => {
  const all = [];
  subscriber.on('message', (_channel, message) => all.push(message) === 1000 && resolve(all));
});
for (let n = 0; n < 1000; n++) redis.publish('news', `message ${n}`);
console.log(
  'subscribed',
  (await gathered).every((message, n) => message === `message ${n}`),
);

const blocked = redis.duplicate();
blocked.on('error', ({ code }) => codes.add(code));
const popped = blocked.blpop('list', 0);
await redis.rpush('list', 'item');
console.log('blocked', await popped);

// The clients connect and subscribe again.
const restored = Promise.all([redis, subscriber].map((client) => new Promise((resolve) => client.once('ready', resolve))));
await resetAll();
await restored;
console.log('after a reset', ...codes, await redis.get('key'));
const [news] = [once(subscriber, 'message')];
while ((await redis.publish('news', 'again')) === 0);
console.log('subscribed again', (await news)[1]);
await redis.flushall();
await Promise.all([redis, subscriber, blocked].map((client) => client.quit()));
