// The four engines that run a random program: the frozen guest, the booted guest, the unpatched
// engine, and V8.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { BareGuest } from '../bare-guest.mjs';
import { ReferenceGuest } from '../reference-guest.mjs';

const prelude = readFileSync(new URL('prelude.js', import.meta.url), 'utf8');
const bare = readFileSync(new URL('../bare.js', import.meta.url), 'utf8');

const HELPERS = `
  const local = { text: 'local', array: [1, 2], object: {}, fns: [] };
  const structured = (value, depth = 0) =>
    Array.isArray(value) && depth < 4 ? Array.from(value, (item) => structured(item, depth + 1)) : value;
  const with_ = (object, change) => change(object);`;

const wrapped = (program) => `(() => {${HELPERS}
${program}
})();`;

/** Makes one guest for all programs, each of which starts from the image. */
export function makeGuest(freeze) {
  const main = `${bare}\n${prelude}\nglobalThis.w = makeWorld();`;
  const guest = new BareGuest({ freeze, main: Buffer.from(main) });
  return async (program) => {
    const source = `native.evalScript(${JSON.stringify(wrapped(program))}, 'program.js');
      for (let i = 0; i < 10; i++) await null;
      print(describeWorld(w));`;
    const { out, exitCode } = await guest.run(source);
    return exitCode === 0 ? out : `${out}\nexit ${exitCode}`;
  };
}

// bare.js prints any value, but the reference's `print` accepts only values that convert to text.
const REFERENCE_PRINT = `const printText = print;
  globalThis.print = (...values) =>
    printText(values.map((value) => (typeof value === 'string' ? value : String(value))).join(' '));`;

/** Makes one unpatched engine for all programs. */
export async function makeReference() {
  const guest = await ReferenceGuest.create({
    prelude: `'use strict';\n${REFERENCE_PRINT}\n${prelude}\nglobalThis.w = makeWorld();`,
  });
  return (program) => {
    const source = `__evalScript(${JSON.stringify(wrapped(program))}, 'program.js');
      for (let i = 0; i < 10; i++) await null;
      print(describeWorld(w));`;
    const { out, failed } = guest.run(source);
    return failed ? `${out}\nexit 1` : out;
  };
}

/** The prelude is strict code, as in bare.js. */
const preludeScript = new vm.Script(`'use strict';\n${prelude}`);

export async function runInV8(program) {
  let out = '';
  const print = (...values) => {
    out += `${values.map((value) => (typeof value === 'string' ? value : String(value))).join(' ')}\n`;
  };
  const context = vm.createContext({ print });
  preludeScript.runInContext(context);
  vm.runInContext('globalThis.w = makeWorld();', context);
  vm.runInContext(wrapped(program), context);
  for (let i = 0; i < 20; i++) await null;
  print(vm.runInContext('describeWorld(w)', context));
  return out;
}
