// Reads the guest fixtures (`fixtures/<case>/`) and normalizes the output of a program, so that two
// runs can be compared. Standard error is normalized, because stacks name frames of the runtime's
// own files, and warnings have a process id. Frames and ids are not the program's behaviour. Next:
// record-fixtures.mjs writes expectations; test/fixtures.test.mjs and the SDK's tests compare runs
// with the expectations. fixtures/README.md has the rules.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageDir } from './paths.mjs';

export const fixturesDir = join(packageDir, 'fixtures');
/** The working directory of a guest program. */
export const WORKSPACE = '/workspace';
export const EVAL_URL = `file://${WORKSPACE}/[eval1]`;

/**
 * Returns the cases whose name contains `only`, sorted by name. Each case has the settings of its
 * `case.json` (KEYS below), `name`, `dir`, `source`, `stdin` as bytes, and `expected` if recorded.
 */
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

/**
 * Returns the settings of a case with files. The case needs a kernel. With `run`, the case runs
 * only in the mode `exec`. The text of a file may be a list of lines.
 */
function withFiles({ files, run, modes }) {
  if (!files) return {};
  const texts = Object.entries(files).map(([path, text]) => [path, Array.isArray(text) ? `${text.join('\n')}\n` : text]);
  return { files: Object.fromEntries(texts), kernel: true, modes: run ? ['exec'] : modes };
}

/** Describes standard output exactly: as text if it is UTF-8, otherwise as base64. */
export function describeBytes(bytes) {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { stdout: text } : { stdoutBase64: bytes.toString('base64') };
}

/** Returns the comparable form of a run. */
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
      // The end of a frame's line can belong to the text after the stack, such as a closing
      // bracket.
      const tail = /\)? (\{|\[cause\].*|\})$/.exec(line);
      if (tail !== null && kept.length > 0) kept[kept.length - 1] += ` ${tail[1]}`;
      continue;
    }
    kept.push(FRAME.test(line) ? normalizeFrame(line) : line);
  }
  return kept.join('\n');
}

// Removes the function's name and the column from a frame. V8 and the engine name some frames
// differently (`Timeout._onTimeout`, `async f`), so only file and line must agree.
function normalizeFrame(line) {
  const [, indent, , place, tail = ''] = /^( +)at (.*?\(?)((?:file:|\/).*?:\d+):\d+\)?,?( \{)?$/.exec(line) ?? [];
  return place === undefined ? line : `${indent}at ${place}${tail}`;
}
