// Runs the engine's own tests on the frozen image: immortal objects, young tables and the other
// patches must not change the results.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findEngineDir } from '../../build/sources.mjs';
import { BareGuest } from './bare-guest.mjs';

const dir = findEngineDir();
const SUITE = fileURLToPath(new URL('suite.js', import.meta.url));

const DEEP = 'recurses deeper than the WebAssembly stack of Node; recursion.test.mjs has a host with a larger stack';

/** Files that are no tests, or that cannot pass in the guest, each with the reason. */
const LEFT_OUT = new Map([
  ['assert.js', 'a helper'],
  ['empty.js', 'a helper'],
  ['microbench.js', 'a benchmark'],
  ['test_bjson.js', 'tests qjs:bjson, which the guest lacks'],
  ['test_std.js', 'tests qjs:std and qjs:os'],
  ['test_worker.js', 'needs threads'],
  ['test_worker_module.js', 'needs threads'],
  ['import-attributes-identity.js', "tests the module loader of the engine's own shell"],
  ['bug652.js', "expects a WeakRef's target to be freed within the job"],
  ['bug1591.js', 'asserts message texts; ours are those of V8'],
  ['bug1498.js', 'asserts message texts; ours are those of V8'],
  ['null_or_undefined.js', 'asserts message texts; ours are those of V8'],
  ['parse-error-column.js', 'expects a frame for the place of a syntax error in eval; V8 has none'],
  ['bug775.js', DEEP],
  ['bug776.js', DEEP],
  ['bug904.js', DEEP],
  ['test_builtin.js', "uses the global `qjs` of the engine's own shell"],
  [
    'callsite-isconstructor.js',
    'expects Error.prepareStackTrace to run when the error is made; V8 runs it when the stack is read',
  ],
]);

const files = {};
for (const entry of readdirSync(join(dir, 'tests'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(entry.parentPath ?? entry.path, entry.name);
  files[path.slice(dir.length + 1)] = readFileSync(path, 'utf8');
}

const cases = Object.keys(files)
  .filter((name) => /^tests\/[^/]+\.js$/.test(name) && !name.includes('/fixture_') && !LEFT_OUT.has(name.slice('tests/'.length)))
  .sort();

const isModule = (text) => /^\s*(import|export)\b/m.test(text) || /^(const \w+ = )?await\b/m.test(text);

/** Returns the class of the error with which a file must end, if any. */
const negative = (text) => /^\/\*---\nnegative:\n {2}phase: \w+\n {2}type: (\w+)/.exec(text)?.[1];

describe("the engine's own tests on the frozen image", () => {
  const guest = new BareGuest({ main: readFileSync(SUITE), inputs: { 'suite/files.json': JSON.stringify(files) } });

  it('are found', () => {
    expect(cases.length).toBeGreaterThan(70);
  });

  it.each(cases.filter((name) => negative(files[name])))('%s throws', async (name) => {
    const { exitCode, out } = await guest.run(`__script(${JSON.stringify(name)})`, { url: name });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: expect.stringContaining(negative(files[name])) });
  });

  it.each(cases.filter((name) => !negative(files[name])))('%s', async (name) => {
    const source = isModule(files[name]) ? files[name] : `__script(${JSON.stringify(name)})`;
    const { exitCode, exitReason, out } = await guest.run(source, { url: name });
    expect({ exitCode, exitReason, out: exitCode === 0 ? '' : out }).toEqual({ exitCode: 0, exitReason: 0, out: '' });
  });
});
