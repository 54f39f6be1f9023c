// mqtt: every quality of service, large and many messages, retained messages and reconnects.
import { once } from 'node:events';
import { createConnection } from 'node:net';
import mqtt from 'mqtt';

const { HOST: host, PORT: port } = process.env;
const resetAll = () => once(createConnection(process.env.CONTROL, host).resume(), 'close');
const event = (client, name) => new Promise((resolve) => client.once(name, (...values) => resolve(values)));

const client = await mqtt.connectAsync(`mqtt://${host}:${port}`, { clientId: 'one', clean: false, reconnectPeriod: 10 });
console.log('subscribed', (await client.subscribeAsync('sensors/+/value', { qos: 1 }))[0].qos);
for (const qos of [0, 1, 2]) {
  const message = event(client, 'message');
  await client.publishAsync('sensors/a/value', `quality ${qos} ☃`, { qos });
  const [topic, payload] = await message;
  console.log(topic, String(payload));
}
const large = event(client, 'message');
await client.publishAsync('sensors/large/value', Buffer.alloc(3_000_000, 'large'), { qos: 1 });
console.log('large', (await large)[1].equals(Buffer.alloc(3_000_000, 'large')));
let count = 0;
const all = new Promise((resolve) => client.on('message', () => ++count === 1000 && resolve()));
await Promise.all(Array.from({ length: 1000 }, (_, n) => client.publishAsync('sensors/b/value', `${n}`, { qos: 1 })));
await all;
console.log('many', count);
await client.publishAsync('kept', 'retained', { retain: true, qos: 1 });
const other = await mqtt.connectAsync(`mqtt://${host}:${port}`, { clientId: 'two' });
const kept = event(other, 'message');
await other.subscribeAsync('kept');
console.log('retained', String((await kept)[1]));
await other.endAsync();
client.on('error', () => {});
const connected = event(client, 'connect');
await resetAll();
console.log('reconnected', (await connected)[0].sessionPresent);
const again = event(client, 'message');
await client.publishAsync('sensors/c/value', 'again', { qos: 1 });
console.log(String((await again)[1]));
await client.endAsync();
