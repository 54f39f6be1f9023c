// Runs clang in a worker thread, because clang is a wasm program that computes for up to a minute
// without yielding. A worker runs one command after the other: loading clang takes 2 s of processor
// time, and compiling a small file takes 0.3 s. Next: clang.mjs, which starts the workers.
import { parentPort } from 'node:worker_threads';
import { runClang } from '@yowasp/clang';

// The clang package reports its loading with console.log, but stdout is for the build's results.
console.log = () => {};

const decoder = new TextDecoder();

parentPort.on('message', async ({ args, files, output }) => {
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
});
