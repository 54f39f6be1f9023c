// anthropic: responses, streams of events, aborts and retries after a reset.
import Anthropic from '@anthropic-ai/sdk';

const server = process.env.SERVER;
const client = new Anthropic({ baseURL: `${server}/anthropic`, maxRetries: 2 });

const message = { model: 'model', max_tokens: 100, messages: [{ role: 'user', content: 'count' }] };
const whole = await client.messages.create(message);
console.log('whole', whole.content[0].text);
const stream = client.messages.stream(message);
const parts = [];
// The server sends the next event after the request `/next`, so each event must arrive at once.
for await (const event of stream) {
  if (event.type === 'content_block_delta') parts.push(event.delta.text);
  await fetch(`${server}/next`);
}
const final = await stream.finalMessage();
console.log('stream', parts.length, final.content[0].text, final.stop_reason);
const stopped = await client.messages.create({ ...message, stream: true });
for await (const { type } of stopped) {
  console.log('first', type);
  stopped.controller.abort();
}
await fetch(`${server}/until-aborted`);
console.log('aborted');
const retried = await client.messages.create({ ...message, metadata: { user_id: 'reset-once' } });
console.log('retried', retried.content[0].text);
await client.messages
  .create({ ...message, metadata: { user_id: 'unauthorized' } })
  .catch(({ name, status }) => console.log(name, status));
