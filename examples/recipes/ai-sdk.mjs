// A tool for the AI SDK of Vercel (the package `ai`), with any model of the AI SDK.

import { generateText, isStepCount, tool } from 'ai';
import { z } from 'zod';
import { createSandbox, description } from './run-javascript.mjs';

/**
 * Returns the last text of the model. The model may run JavaScript in at most `maxSteps` steps.
 * @param {import('ai').LanguageModel} model
 * @param {string} prompt
 * @param {{ maxSteps?: number, timeout?: number, signal?: AbortSignal }} [options]
 */
export async function answer(model, prompt, { maxSteps = 8, timeout, signal } = {}) {
  const sandbox = await createSandbox({ timeout });
  try {
    const run_javascript = tool({
      description,
      inputSchema: z.object({ code: z.string().describe('the JavaScript to run') }),
      execute: (input, { abortSignal }) => sandbox.run(input, { signal: abortSignal }),
    });
    const { text, finishReason } = await generateText({
      model,
      prompt,
      tools: { run_javascript },
      stopWhen: isStepCount(maxSteps),
      abortSignal: signal,
    });
    if (finishReason !== 'stop') throw new Error(`the model did not answer in ${maxSteps} steps: ${finishReason}`);
    return text;
  } finally {
    await sandbox.dispose();
  }
}
