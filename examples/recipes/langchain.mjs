// A tool for LangChain, and a loop with any chat model that can bind tools.

import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { createSandbox, description, name } from './run-javascript.mjs';

/**
 * Makes the tool. An agent of LangChain or LangGraph accepts the tool in its list `tools`.
 * @param {Awaited<ReturnType<typeof createSandbox>>} sandbox
 */
export const runJavaScript = (sandbox) =>
  tool(async (input, config) => JSON.stringify(await sandbox.run(input, { signal: config?.signal })), {
    name,
    description,
    schema: z.object({ code: z.string().describe('the JavaScript to run') }),
  });

/**
 * Returns the last text of the model. The model may run JavaScript in at most `maxTurns` turns.
 * @param {import('@langchain/core/language_models/chat_models').BaseChatModel} model
 * @param {string} prompt
 * @param {{ maxTurns?: number, timeout?: number, signal?: AbortSignal }} [options]
 */
export async function answer(model, prompt, { maxTurns = 8, timeout, signal } = {}) {
  if (!model.bindTools) throw new TypeError('expected a model that can bind tools');
  const sandbox = await createSandbox({ timeout });
  try {
    const run = runJavaScript(sandbox);
    const bound = model.bindTools([run]);
    /** @type {import('@langchain/core/messages').BaseMessage[]} */
    const messages = [new HumanMessage(prompt)];
    for (let turn = 0; turn < maxTurns; turn++) {
      const message = await bound.invoke(messages, { signal });
      const calls = message.tool_calls ?? [];
      if (calls.length === 0) return message.text;
      messages.push(message);
      for (const call of calls) messages.push(await run.invoke({ ...call, type: 'tool_call' }, { signal }));
    }
    throw new Error(`the model did not answer in ${maxTurns} turns`);
  } finally {
    await sandbox.dispose();
  }
}
