// The tool for Mastra runs in an agent of Mastra with the mock model of the AI SDK.

import { expect, test } from 'vitest';
import { answer } from '../../mastra.mjs';
import { ANSWER, calls, children, QUESTION, results, timeout } from '../conversation.mjs';
import { callsOf, resultsOf, scriptedModel } from '../mock-model.mjs';

test('results of all calls reach the model, and the sandbox is disposed', async () => {
  const model = scriptedModel([...calls, ANSWER]);

  expect(await answer(model, QUESTION, { timeout })).toBe(ANSWER);

  expect(callsOf(model)[0].tools).toMatchObject([{ type: 'function', name: 'run_javascript' }]);
  const received = resultsOf(model);
  expect(calls.map(({ id }) => received[id])).toEqual(results.map((value) => ({ type: 'json', value })));
  expect(children()).toEqual([]);
});

test('a model that only calls tools ends the loop with an error', async () => {
  const model = scriptedModel([calls[2], calls[2]]);
  await expect(answer(model, QUESTION, { maxSteps: 2 })).rejects.toThrow('did not answer in 2 steps');
  expect(children()).toEqual([]);
});
