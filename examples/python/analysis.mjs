// An agent that analyses data: a model writes cells of Python, and one notebook keeps their names.
// The file with the data is mounted read-only, and the cells have limits.

import { NodeRuntime } from 'coldframe';

const LIMITS = { memoryBytes: 256 * 2 ** 20, cpuMs: 10_000 };
const TURNS = 8;

/**
 * Asks a model until the model answers. `model` receives the messages and returns `{ code }` or
 * `{ answer }`. `folder` is the folder of the host machine with the data.
 */
export async function analyse(question, { model, folder }) {
  const mounts = [{ guestPath: '/data', hostPath: folder, readOnly: true }];
  const runtime = await NodeRuntime.create({ mounts, limits: LIMITS, cwd: '/data' });
  try {
    const notebook = await runtime.createResidentRunner({ language: 'python' });
    const messages = [{ role: 'user', text: question }];
    for (let turn = 0; turn < TURNS; turn++) {
      const { code, answer } = await model(messages);
      if (answer !== undefined) return { answer, messages };
      messages.push({ role: 'model', code }, { role: 'tool', ...(await run(notebook, code)) });
    }
    throw new Error(`the model gave no answer in ${TURNS} turns`);
  } finally {
    await runtime.dispose();
  }
}

// A model needs the text of a value, the output and the traceback. The HTML of a table is for a
// user.
async function run(notebook, code) {
  const { text, stdout, stderr, thrown, error, results } = await notebook.cell(code, { timeout: 20_000 });
  return {
    ...(text !== undefined && { value: text }),
    ...(stdout + stderr !== '' && { output: stdout + stderr }),
    ...((thrown ?? error) && { failure: thrown?.stack ?? error.message }),
    html: results.flatMap(({ data }) => data['text/html'] ?? []),
  };
}
