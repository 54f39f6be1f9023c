// A tool loop with the official client of OpenAI and the Responses API.

import { createSandbox, description, name, parameters } from './run-javascript.mjs';

/**
 * Returns the last text of the model. The model may run JavaScript in at most `maxTurns` turns.
 * @param {import('openai').default} client
 * @param {string} prompt
 * @param {{ model: string, maxTurns?: number, timeout?: number, signal?: AbortSignal }} options
 */
export async function answer(client, prompt, { model, maxTurns = 8, timeout, signal }) {
  const sandbox = await createSandbox({ timeout });
  try {
    /** @type {import('openai').OpenAI.Responses.ResponseInput} */
    const input = [{ role: 'user', content: prompt }];
    /** @type {import('openai').OpenAI.Responses.FunctionTool} */
    const tool = { type: 'function', name, description, parameters, strict: true };
    for (let turn = 0; turn < maxTurns; turn++) {
      const response = await client.responses.create({ model, input, tools: [tool] }, { signal });
      if (response.status !== 'completed') throw new Error(`the response is ${response.status}`);
      const calls = response.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) return response.output_text;
      input.push(.../** @type {import('openai').OpenAI.Responses.ResponseInputItem[]} */ (response.output));
      for (const { call_id, arguments: json } of calls) {
        const output = JSON.stringify(await call(sandbox, json, signal));
        input.push({ type: 'function_call_output', call_id, output });
      }
    }
    throw new Error(`the model did not answer in ${maxTurns} turns`);
  } finally {
    await sandbox.dispose();
  }
}

/**
 * Runs one call. The arguments are text of the model, so the text may be malformed JSON.
 * @param {Awaited<ReturnType<typeof createSandbox>>} sandbox
 * @param {string} json
 * @param {AbortSignal | undefined} signal
 */
async function call(sandbox, json, signal) {
  let input;
  try {
    input = JSON.parse(json);
  } catch {
    return { error: { message: 'the arguments are not valid JSON' } };
  }
  return await sandbox.run(input, { signal });
}
