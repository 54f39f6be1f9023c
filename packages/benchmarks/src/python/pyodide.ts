// Pyodide as a peer: CPython for Emscripten in the process of the app. The package is installed
// from npm into the cache of the peers.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { installPeer } from '../peers/install.js';

const PACKAGE = { name: 'pyodide', version: '314.0.7' };

// Each load is in a process of its own, because Pyodide cannot free an interpreter. The clock
// begins after the process has started and has loaded the package's JavaScript.
const SOURCE = `
const { createRequire } = require('node:module');
const { loadPyodide } = createRequire(process.argv[2])('pyodide');
const from = performance.now();
const lines = [];
loadPyodide({ stdout: (line) => lines.push(line) }).then((pyodide) => {
  pyodide.runPython('print(1+1)');
  process.send({ ms: performance.now() - from, text: lines.join() });
  process.exit();
}, (error) => { process.send({ error: String(error) }); process.exit(); });
`;

/** Installs the package, and returns the measurement of a start. */
export async function openPyodide(cache: string): Promise<{ measure(): Promise<number> }> {
  const folder = await installPeer(PACKAGE, cache);
  return {
    measure: async () => {
      const code = `process.argv.splice(1, 0, 'pyodide'); ${SOURCE}`;
      const child = fork('-e', [], {
        execArgv: ['-e', code, `${folder}/package.json`],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      const [message] = (await once(child, 'message')) as [{ ms?: number; text?: string; error?: string }];
      if (message.ms === undefined || message.text !== '2') throw new Error(message.error ?? `received ${message.text}`);
      return message.ms;
    },
  };
}
