// nats: requests, subscriptions, headers and reconnects.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { connect, headers, JSONCodec, StringCodec } from 'nats';

const { HOST: host, PORT: port } = process.env;
const resetAll = () => once(createConnection(process.env.CONTROL, host).resume(), 'close');
const [text, json] = [StringCodec(), JSONCodec()];
const client = await connect({ servers: `${host}:${port}`, reconnectTimeWait: 10, reconnectJitter: 0, maxReconnectAttempts: -1 });

client.subscribe('double', { callback: (_error, message) => message.respond(json.encode(json.decode(message.data) * 2)) });
console.log('request', json.decode((await client.request('double', json.encode(21))).data));
const subscription = client.subscribe('news.*', { max: 5000 });
for (let n = 0; n < 5000; n++) client.publish(`news.${n % 3}`, text.encode(`message ${n}`));
let inOrder = 0;
for await (const message of subscription) if (text.decode(message.data) === `message ${inOrder}`) inOrder++;
console.log('in order', inOrder);
const marked = headers();
marked.set('kind', 'test');
const one = client.subscribe('marked', { max: 1 });
client.publish('marked', new Uint8Array(900_000).fill(7), { headers: marked });
for await (const message of one) console.log('headers', message.headers.get('kind'), message.data.length);
await client.request('nobody', text.encode(''), { timeout: 1000 }).catch(({ code }) => console.log('error', code));
const statuses = (async () => {
  for await (const { type } of client.status())
    if (type === 'disconnect' || type === 'reconnect') {
      console.log(type);
      if (type === 'reconnect') return;
    }
})();
await resetAll();
await statuses;
console.log('again', json.decode((await client.request('double', json.encode(4))).data));
await client.drain();
