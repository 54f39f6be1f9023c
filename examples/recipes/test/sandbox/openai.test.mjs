// The loop with OpenAI's client runs against a service that speaks the format of the Responses API.

import OpenAI from 'openai';
import { afterEach, expect, test } from 'vitest';
import { answer } from '../../openai.mjs';
import { ANSWER, calls, children, QUESTION, results, timeout } from '../conversation.mjs';
import { startService } from '../mock-service.mjs';
import { functionCall, MODEL, message, response } from '../wire/openai.mjs';

let service;
afterEach(() => service?.close());

const callOf = ({ id, code }) => functionCall(id, JSON.stringify({ code }));

const clientOf = () => new OpenAI({ apiKey: 'test-key', baseURL: `${service.url}/v1`, maxRetries: 0 });

test('results of all calls reach the model, and the sandbox is disposed', async () => {
  const malformed = functionCall('call_malformed', '{"code": ');
  const wrong = functionCall('call_wrong', '{"code": 7}');
  const turns = [response(callOf(calls[0])), response(callOf(calls[1]), malformed, wrong), response(callOf(calls[2]))];
  service = await startService('/v1/responses', [...turns, response(message(ANSWER))]);

  expect(await answer(clientOf(), QUESTION, { model: MODEL, timeout })).toBe(ANSWER);

  expect(service.requests[0].headers.authorization).toBe('Bearer test-key');
  expect(service.requests[0].body.tools).toMatchObject([{ type: 'function', name: 'run_javascript', strict: true }]);
  const { input } = service.requests.at(-1).body;
  expect(input.map(({ role, type }) => role ?? type)).toEqual([
    'user',
    ...['function_call', 'function_call_output'],
    ...['function_call', 'function_call', 'function_call'],
    ...['function_call_output', 'function_call_output', 'function_call_output'],
    ...['function_call', 'function_call_output'],
  ]);
  const outputs = input.filter(({ type }) => type === 'function_call_output');
  const byId = Object.fromEntries(outputs.map(({ call_id, output }) => [call_id, JSON.parse(output)]));
  expect(calls.map(({ id }) => byId[id])).toEqual(results);
  expect(byId.call_malformed).toEqual({ error: { message: 'the arguments are not valid JSON' } });
  expect(byId.call_wrong).toEqual({ error: { code: 'ERR_INVALID_OPTION', message: expect.stringContaining('received 7') } });
  expect(children()).toEqual([]);
});

test('an aborted signal rejects, and the sandbox is disposed', async () => {
  const stop = new AbortController();
  service = await startService('/v1/responses', [response(callOf(calls[0]))]);
  const answered = answer(clientOf(), QUESTION, { model: MODEL, signal: stop.signal });
  while (children().length === 0) await new Promise(setImmediate);
  stop.abort();
  await expect(answered).rejects.toThrow();
  expect(children()).toEqual([]);
});

test('a model that only calls tools ends the loop with an error', async () => {
  service = await startService('/v1/responses', [response(callOf(calls[2])), response(callOf(calls[2]))]);
  await expect(answer(clientOf(), QUESTION, { model: MODEL, maxTurns: 2 })).rejects.toThrow('did not answer in 2 turns');
  expect(service.requests).toHaveLength(2);
  expect(children()).toEqual([]);
});
