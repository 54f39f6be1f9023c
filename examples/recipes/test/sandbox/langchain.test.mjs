// The tool for LangChain runs in a loop with the fake chat model of LangChain.

import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { expect, test } from 'vitest';
import { answer } from '../../langchain.mjs';
import { ANSWER, calls, children, QUESTION, results, timeout } from '../conversation.mjs';

const toolCall = ({ id, code }) => ({ id, name: 'run_javascript', args: { code } });

test('results of all calls reach the model, and the sandbox is disposed', async () => {
  const model = fakeModel()
    .respondWithTools([toolCall(calls[0])])
    .respondWithTools(calls.slice(1).map(toolCall))
    .respond(new AIMessage(ANSWER));

  expect(await answer(model, QUESTION, { timeout })).toBe(ANSWER);

  const messages = model.calls.at(-1).messages;
  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai', 'tool', 'tool']);
  const received = messages.filter(({ type }) => type === 'tool');
  expect(received.map(({ tool_call_id }) => tool_call_id)).toEqual(calls.map(({ id }) => id));
  expect(received.map(({ content }) => JSON.parse(content))).toEqual(results);
  expect(children()).toEqual([]);
});

test('a model that only calls tools ends the loop with an error', async () => {
  const model = fakeModel()
    .respondWithTools([toolCall(calls[2])])
    .respondWithTools([toolCall(calls[2])]);
  await expect(answer(model, QUESTION, { maxTurns: 2 })).rejects.toThrow('did not answer in 2 turns');
  expect(children()).toEqual([]);
});
