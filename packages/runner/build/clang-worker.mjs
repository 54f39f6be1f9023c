// Runs clang once, in a worker thread, because clang is a wasm program that computes for up to a
// minute without yielding. Next: compile.mjs, which starts the workers.
import { parentPort, workerData } from 'node:worker_threads';
import { runClang } from '@yowasp/clang';

// The clang package reports its loading with console.log, but stdout is for the build's results.
console.log = () => {};

const { args, files, output } = workerData;
const decoder = new TextDecoder();
let text = '';
const collect = (bytes) => {
  if (bytes) text += decoder.decode(bytes);
};

try {
  const made = await runClang(args, files, { stdout: collect, stderr: collect });
  parentPort.postMessage({ bytes: made[output], text });
} catch (error) {
  parentPort.postMessage({ text: `${text}${error.message ?? error}` });
}
