// A tool for Mastra, in an agent with any model of Mastra.

import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { createSandbox, description, name } from './run-javascript.mjs';

/**
 * Makes the tool. Every agent of Mastra accepts the tool in its map `tools`.
 * @param {Awaited<ReturnType<typeof createSandbox>>} sandbox
 */
export const runJavaScript = (sandbox) =>
  createTool({
    id: name,
    description,
    inputSchema: z.object({ code: z.string().describe('the JavaScript to run') }),
    execute: (input, { abortSignal }) => sandbox.run(input, { signal: abortSignal }),
  });

/**
 * Returns the last text of the model. The model may run JavaScript in at most `maxSteps` steps.
 * @param {import('@mastra/core/agent').AgentConfig['model']} model
 * @param {string} prompt
 * @param {{ maxSteps?: number, timeout?: number, signal?: AbortSignal }} [options]
 */
export async function answer(model, prompt, { maxSteps = 8, timeout, signal } = {}) {
  const sandbox = await createSandbox({ timeout });
  try {
    const agent = new Agent({
      id: 'coder',
      name: 'Coder',
      instructions: 'Run JavaScript for computations.',
      model,
      tools: { [name]: runJavaScript(sandbox) },
    });
    const { text, finishReason } = await agent.generate(prompt, { maxSteps, abortSignal: signal });
    if (finishReason !== 'stop') throw new Error(`the model did not answer in ${maxSteps} steps: ${finishReason}`);
    return text;
  } finally {
    await sandbox.dispose();
  }
}
