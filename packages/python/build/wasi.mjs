// Node's WASI, without Node's warning that WASI is experimental, and without V8's fast calls.
// Node 20 can crash in a fast call of a function of WASI: four of six runs of freeze.mjs crashed.
// None of ten runs crashed with the flag.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-turbo-fast-api-calls');

const { emitWarning } = process;
process.emitWarning = () => {};
export const { WASI } = await import('node:wasi');
process.emitWarning = emitWarning;
