// What: reads the guest fixtures (`fixtures/<case>/`) and brings what a program wrote into the form in which two runs are compared.
// Why a form of its own for standard error: stacks name frames of the runtime's own files, and a process id; neither is the program's behaviour.
// Next: record-fixtures.mjs writes expectations with it, test/fixtures.test.mjs and the SDK's tests compare with it. The rules stand in
// fixtures/README.md.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageDir } from './paths.mjs';

export const fixturesDir = join(packageDir, 'fixtures');
/** Where a guest program lives when nothing else is said. */
export const WORKSPACE = '/workspace';
export const EVAL_URL = `file://${WORKSPACE}/[eval1]`;

/** @returns {{ name: string, dir: string, source: string, stdin: Buffer, args: string[], env: object, handWritten?: string, kernel?: boolean, files?: object, run?: string, execArgv?: string[], expected?: object }[]} */
export function readFixtures(only = '') {
  return readdirSync(fixturesDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.includes(only))
    .map((entry) => readFixture(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const KEYS = [
  'about',
  'args',
  'env',
  'stdin',
  'limits',
  'timeoutMs',
  'handWritten',
  'modes',
  'kernel',
  'files',
  'run',
  'execArgv',
];

function readFixture(name) {
  const dir = join(fixturesDir, name);
  const settings = JSON.parse(readFileSync(join(dir, 'case.json'), 'utf8'));
  for (const key of Object.keys(settings)) {
    if (!KEYS.includes(key))
      throw new Error(`fixtures/${name}/case.json: unknown key '${key}', expected one of ${KEYS.join(', ')}`);
  }
  const expectedPath = join(dir, 'expected.json');
  return {
    args: [],
    env: {},
    ...settings,
    ...withFiles(settings),
    name,
    dir,
    source: settings.run ? '' : readFileSync(join(dir, 'main.mjs'), 'utf8'),
    stdin: settings.stdin ? readFileSync(join(dir, settings.stdin)) : Buffer.alloc(0),
    expected: existsSync(expectedPath) ? JSON.parse(readFileSync(expectedPath, 'utf8')) : undefined,
  };
}

/** Files need a kernel, and a program in one has a process of its own. Text may be given line by line. */
function withFiles({ files, run, modes }) {
  if (!files) return {};
  const texts = Object.entries(files).map(([path, text]) => [path, Array.isArray(text) ? `${text.join('\n')}\n` : text]);
  return { files: Object.fromEntries(texts), kernel: true, modes: run ? ['exec'] : modes };
}

/** Standard output is exact: text when it is UTF-8, base64 otherwise. */
export function describeBytes(bytes) {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { stdout: text } : { stdoutBase64: bytes.toString('base64') };
}

/** The comparable form of a run. */
export function normalizeRun({ exitCode, stdout, stderr }) {
  return { exitCode, ...describeBytes(stdout), stderr: normalizeStderr(stderr.toString('utf8')) };
}

const INTERNAL_QUOTE = /^\n?node:[^\n]+:\d+\n[^\n]*\n *\^+\n\n*/;
const FRAME = /^ +at /;

export function normalizeStderr(text) {
  const lines = text
    .replace(INTERNAL_QUOTE, '')
    .replace(/\(node:\d+\)/g, '(node:PID)')
    .split('\n');
  const kept = [];
  for (const line of lines) {
    if (/^ +\.\.\. \d+ lines matching /.test(line)) continue;
    if (FRAME.test(line) && !line.includes('[eval') && !line.includes(`${WORKSPACE}/`)) {
      // What closes the frame's line belongs to what is printed after the stack.
      const tail = /\)? (\{|\[cause\].*|\})$/.exec(line);
      if (tail !== null && kept.length > 0) kept[kept.length - 1] += ` ${tail[1]}`;
      continue;
    }
    kept.push(FRAME.test(line) ? normalizeFrame(line) : line);
  }
  return kept.join('\n');
}

// V8 and the engine name some frames differently (`Timeout._onTimeout`, `async f`); the place is what must agree.
function normalizeFrame(line) {
  const [, indent, , place, tail = ''] = /^( +)at (.*?\(?)((?:file:|\/).*?:\d+):\d+\)?,?( \{)?$/.exec(line) ?? [];
  return place === undefined ? line : `${indent}at ${place}${tail}`;
}
