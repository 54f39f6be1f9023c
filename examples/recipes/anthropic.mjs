// A tool loop with the official client of Anthropic and the Messages API.

import { createSandbox, description, name, parameters } from './run-javascript.mjs';

/**
 * Returns the last text of the model. The model may run JavaScript in at most `maxTurns` turns.
 * @param {import('@anthropic-ai/sdk').default} client
 * @param {string} prompt
 * @param {{ model: string, maxTurns?: number, timeout?: number, signal?: AbortSignal }} options
 */
export async function answer(client, prompt, { model, maxTurns = 8, timeout, signal }) {
  const sandbox = await createSandbox({ timeout });
  try {
    /** @type {import('@anthropic-ai/sdk').Anthropic.MessageParam[]} */
    const messages = [{ role: 'user', content: prompt }];
    /** @type {import('@anthropic-ai/sdk').Anthropic.Tool} */
    const tool = { name, description, input_schema: /** @type {any} */ (parameters) };
    for (let turn = 0; turn < maxTurns; turn++) {
      const message = await client.messages.create({ model, max_tokens: 4_096, messages, tools: [tool] }, { signal });
      if (message.stop_reason === 'end_turn') {
        return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      }
      // The call of a message that reached `max_tokens` may be incomplete.
      if (message.stop_reason !== 'tool_use') throw new Error(`the model stopped: ${message.stop_reason}`);
      messages.push({ role: 'assistant', content: message.content });
      /** @type {import('@anthropic-ai/sdk').Anthropic.ToolResultBlockParam[]} */
      const results = [];
      for (const { id, input } of message.content.filter((block) => block.type === 'tool_use')) {
        const result = await sandbox.run(/** @type {{ code: string }} */ (input), { signal });
        const failed = 'error' in result || result.exitCode !== 0;
        results.push({ type: 'tool_result', tool_use_id: id, content: JSON.stringify(result), is_error: failed });
      }
      messages.push({ role: 'user', content: results });
    }
    throw new Error(`the model did not answer in ${maxTurns} turns`);
  } finally {
    await sandbox.dispose();
  }
}
