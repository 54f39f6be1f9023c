// The loop with Anthropic's client runs against a service that speaks the format of the Messages
// API.

import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, test } from 'vitest';
import { answer } from '../../anthropic.mjs';
import { ANSWER, calls, children, QUESTION, results, timeout } from '../conversation.mjs';
import { startService } from '../mock-service.mjs';
import { MODEL, message, text, toolUse } from '../wire/anthropic.mjs';

let service;
afterEach(() => service?.close());

const callOf = ({ id, code }) => toolUse(id, { code });
const clientOf = () => new Anthropic({ apiKey: 'test-key', baseURL: service.url, maxRetries: 0 });

test('results of all calls reach the model, and the sandbox is disposed', async () => {
  service = await startService('/v1/messages', [
    message('tool_use', text('Let me compute.'), callOf(calls[0])),
    message('tool_use', callOf(calls[1]), toolUse('call_wrong', { code: 7 })),
    message('tool_use', callOf(calls[2])),
    message('end_turn', text('The answer '), text('is 42.')),
  ]);

  expect(await answer(clientOf(), QUESTION, { model: MODEL, timeout })).toBe(ANSWER);

  const [first] = service.requests;
  expect(first.headers).toMatchObject({ authorization: 'Bearer test-key', 'anthropic-version': '2026-10-21' });
  expect(first.body.tools).toMatchObject([{ name: 'run_javascript', input_schema: { type: 'object', required: ['code'] } }]);
  const { messages } = service.requests.at(-1).body;
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user']);
  const blocks = messages.slice(1).flatMap(({ role, content }) => (role === 'user' ? content : []));
  const byId = Object.fromEntries(blocks.map(({ tool_use_id, content }) => [tool_use_id, JSON.parse(content)]));
  expect(calls.map(({ id }) => byId[id])).toEqual(results);
  expect(byId.call_wrong.error.code).toBe('ERR_INVALID_OPTION');
  expect(blocks.map(({ is_error }) => is_error)).toEqual([true, true, true, false]);
  expect(children()).toEqual([]);
});

test('a message that ends before its call is complete ends the loop with an error', async () => {
  service = await startService('/v1/messages', [message('max_tokens', callOf(calls[2]))]);
  await expect(answer(clientOf(), QUESTION, { model: MODEL })).rejects.toThrow('the model stopped: max_tokens');
  expect(children()).toEqual([]);
});

test('a model that only calls tools ends the loop with an error', async () => {
  const turn = message('tool_use', callOf(calls[2]));
  service = await startService('/v1/messages', [turn, turn]);
  await expect(answer(clientOf(), QUESTION, { model: MODEL, maxTurns: 2 })).rejects.toThrow('did not answer in 2 turns');
  expect(children()).toEqual([]);
});
