// openai: responses, streams of events, aborts, retries after a reset and a file.
import OpenAI from 'openai';

const server = process.env.SERVER;
const client = new OpenAI({ baseURL: `${server}/openai`, maxRetries: 2 });

const chat = { model: 'model', messages: [{ role: 'user', content: 'count' }] };
const whole = await client.chat.completions.create(chat);
console.log('whole', whole.choices[0].message.content);
const parts = [];
// The server sends the next event after the request `/next`, so each event must arrive at once.
for await (const part of await client.chat.completions.create({ ...chat, stream: true })) {
  parts.push(part.choices[0].delta.content);
  await fetch(`${server}/next`);
}
console.log('stream', parts.join(''), parts.length);
const stopped = await client.chat.completions.create({ ...chat, stream: true });
for await (const part of stopped) {
  console.log('first', part.choices[0].delta.content);
  stopped.controller.abort();
}
await fetch(`${server}/until-aborted`);
console.log('aborted');
const retried = await client.chat.completions.create({ ...chat, user: 'reset-once' });
console.log('retried', retried.choices[0].message.content);
await client.chat.completions.create({ ...chat, user: 'unauthorized' }).catch(({ name, status }) => console.log(name, status));
const file = await client.files.create({ purpose: 'batch', file: await OpenAI.toFile(Buffer.alloc(2_000_000, 'f'), 'f.jsonl') });
console.log('file', file.bytes > 2_000_000);
