// `pnpm test:engine [--quickjs-tests DIR]` runs each test file of QuickJS-ng on the patched engine,
// frozen, and on the unpatched engine, and compares output and outcome. DIR is the folder `tests`
// of QuickJS-ng's repository, by default the folder of the pinned package. Two errors are equal if
// they have equal classes and are thrown at equal lines. Texts are compared too but counted
// separately, because patches replace the engine's error texts by V8's. Other differences must be
// in DIFFERENT with their reason. docs/internals/differential.md has the result.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findEngineDir } from '../../build/sources.mjs';
import { BareGuest } from './bare-guest.mjs';
import { DIFFERENT } from './quickjs-differences.mjs';
import { ReferenceGuest } from './reference-guest.mjs';

const SUITE = fileURLToPath(new URL('suite.js', import.meta.url));
const ROUNDS = 20;
const STOP_MS = 20_000;

/** Adds the globals of suite.js, which the patched engine has, to the unpatched engine. */
const PRELUDE = `
  const printText = print, timers = [];
  const text = (value) => { try { return typeof value === 'string' ? value : String(value); } catch { return '[object]'; } };
  globalThis.print = (...values) => printText(values.map(text).join(' '));
  globalThis.console = { log: print };
  globalThis.scriptArgs = ['test'];
  globalThis.__script = (name) => __evalScript(__loadFile('raw:' + name), name);
  globalThis.std = {
    gc, exit() { throw new Error('std.exit'); },
    evalScript: (source) => __evalScript(source, '<evalScript>'),
    loadFile: (name) => __loadFile('raw:' + (name.startsWith('.') ? 'tests/' + name.replace(/^\\.\\//, '') : name)),
  };
  globalThis.os = { setTimeout(callback) { timers.push(callback); } };
  globalThis.__turn = () => { for (const callback of timers.splice(0)) callback(); };`;

const STD = 'export const gc = std.gc, exit = std.exit, evalScript = std.evalScript, loadFile = std.loadFile;';

const isModule = (text) => /^\s*(import|export)\b/m.test(text) || /^(const \w+ = )?await\b/m.test(text);

function readTests(dir) {
  const files = {};
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    files[`tests/${path.slice(dir.length + 1)}`] = readFileSync(path, 'utf8');
  }
  return files;
}

function forReference(files) {
  const served = { 'qjs:std': STD, 'qjs:os': 'export const setTimeout = os.setTimeout;' };
  for (const [name, text] of Object.entries(files)) {
    served[`raw:${name}`] = text;
    served[name] = name.endsWith('.json') ? `export default ${text}` : text;
  }
  return served;
}

/** Returns the outcome of a file: its output, and the class, text and position of an error. */
function outcome(out, failed) {
  const at = out.search(/^Uncaught |^trap: /m);
  const printed = at === -1 ? out : out.slice(0, at);
  const [, name = '', message = ''] = at === -1 ? [] : (/^(?:Uncaught )?([\w.]*)(?:: )?(.*)/.exec(out.slice(at)) ?? []);
  const place =
    at === -1 || name === 'SyntaxError' ? '' : (/^ +at .*?([\w./-]+:\d+)(?::\d+)?\)?$/m.exec(out.slice(at))?.[1] ?? '');
  return { printed, ended: failed ? `${name} ${place}`.trim() : 'well', message };
}

async function compareFiles(dir) {
  const files = readTests(dir);
  const patched = new BareGuest({ main: readFileSync(SUITE), inputs: { 'suite/files.json': JSON.stringify(files) } });
  const unpatched = await ReferenceGuest.create({ prelude: PRELUDE, files: forReference(files) });
  const names = Object.keys(files).filter((name) => /^tests\/[^/]+\.js$/.test(name) && !name.includes('/fixture_'));
  const count = { same: 0, texts: 0, known: 0, new: 0 };
  for (const name of names.sort()) {
    const source = isModule(files[name]) ? files[name] : `__script(${JSON.stringify(name)})`;
    const one = unpatched.run(source, { name, rounds: ROUNDS, round: '__turn()' });
    const ours = await runPatched(patched, source, name);
    const verdict = judge(basename(name), ours, outcome(one.out, one.failed));
    count[verdict.kind]++;
    if (verdict.kind !== 'same') console.log(`${verdict.kind.padEnd(6)} ${basename(name)}: ${verdict.why}`);
  }
  return { ...count, files: names.length };
}

async function runPatched(guest, source, url) {
  try {
    const run = guest.run(source, { url });
    guest.stopAfter(STOP_MS);
    const { exitCode, exitReason, out } = await run;
    return outcome(exitReason ? `${out}trap: stopped ${exitReason}\n` : out, exitCode !== 0 || exitReason !== 0);
  } catch (error) {
    return outcome(`trap: ${error.message}\n`, true);
  }
}

function judge(name, ours, theirs) {
  const differs = ours.printed !== theirs.printed || ours.ended !== theirs.ended;
  const why = `ours ended: ${ours.ended} (${ours.message}); unpatched: ${theirs.ended} (${theirs.message})`;
  if (!differs) return ours.message === theirs.message ? { kind: 'same' } : { kind: 'texts', why };
  return DIFFERENT[name] ? { kind: 'known', why: DIFFERENT[name] } : { kind: 'new', why };
}

const { values } = parseArgs({ options: { 'quickjs-tests': { type: 'string' } } });
const dir = values['quickjs-tests'] ? resolve(values['quickjs-tests']) : join(findEngineDir(), 'tests');
const result = await compareFiles(dir);
console.log(
  `${result.files} files: ${result.same} equal, ${result.texts} equal but for V8's texts, ` +
    `${result.known} different for a recorded reason, ${result.new} different without a reason`,
);
process.exitCode = result.new ? 1 : 0;
