// The tool of all recipes: runs JavaScript of a model in a sandbox, one sandbox for a conversation.

import { isColdframeError, NodeRuntime } from 'coldframe';

export const name = 'run_javascript';

export const description = `Runs JavaScript in a sandbox and returns exitCode, stdout and stderr.
The code is an ES module with top-level await and the modules of Node. Print results with console.log.
Files in /workspace stay between the calls. There is no internet access.`;

export const parameters = {
  type: 'object',
  properties: { code: { type: 'string', description: 'the JavaScript to run' } },
  required: ['code'],
  additionalProperties: false,
};

/** Creates the sandbox of one conversation. The caller disposes the sandbox. */
export async function createSandbox({ timeout = 30_000 } = {}) {
  const runtime = await NodeRuntime.create({ limits: { profile: 'hardened', outputBytes: 16_384 } });

  /**
   * Runs the input of a tool call. Returns plain data for the model, also for a program that failed
   * or that a limit ended. Throws for errors that the model cannot correct.
   * @param {{ code: string }} input
   * @param {{ signal?: AbortSignal | undefined }} [options]
   */
  async function run(input, { signal } = {}) {
    try {
      const result = await runtime.exec(input?.code, { timeout, signal, explainLimits: true });
      return result.toJSON();
    } catch (error) {
      // A model can send another type than the schema says.
      if (isColdframeError(error, 'ERR_INVALID_OPTION')) return { error: { code: error.code, message: error.message } };
      throw error;
    }
  }

  return { run, dispose: () => runtime.dispose() };
}
