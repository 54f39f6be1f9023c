// Runs each guest fixture in the pinned Node and writes the result to `expected.json`. Cases with
// `handWritten` are not changed. The program is passed with `-e`: its URL is then
// `file://<cwd>/[eval1]`, as in the sandbox, and standard input stays free. Output is written to
// files, because the sandbox's standard descriptors behave like files: writes are complete when
// they return. A case with `run` runs `node <run>` instead, with a file among the case's `files`.
//
//   node packages/runner/build/record-fixtures.mjs [part of a name]
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pinnedNode } from '@coldframe/pinned-node';
import { normalizeRun, readFixtures, WORKSPACE } from './fixtures.mjs';

const node = pinnedNode().binary;

function run(fixture) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fixture-')));
  const cwd = join(root, 'workspace');
  try {
    return runIn(fixture, root, cwd);
  } finally {
    rmSync(root, { recursive: true });
  }
}

function runIn(fixture, root, cwd) {
  mkdirSync(cwd);
  for (const [path, text] of Object.entries(fixture.files ?? {})) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const paths = ['stdin', 'stdout', 'stderr'].map((name) => join(root, name));
  writeFileSync(paths[0], fixture.stdin);
  const stdio = [openSync(paths[0], 'r'), openSync(paths[1], 'w'), openSync(paths[2], 'w')];
  const program = fixture.run ? [fixture.run] : ['--input-type=module', '-e', fixture.source, '--'];
  const args = [...(fixture.execArgv ?? []), ...program, ...fixture.args];
  const { status, error } = spawnSync(node, args, { cwd, env: fixture.env, argv0: 'node', stdio, timeout: 30_000 });
  for (const fd of stdio) closeSync(fd);
  if (error) throw error;
  const [stdout, stderr] = [paths[1], paths[2]].map((path) => moved(readFileSync(path), cwd));
  return { exitCode: status, stdout, stderr };
}

// Replaces the path of the temporary folder by WORKSPACE. Output without the path stays
// unchanged byte for byte, so binary output is not decoded.
function moved(bytes, cwd) {
  return bytes.includes(cwd) ? Buffer.from(bytes.toString('utf8').replaceAll(cwd, WORKSPACE)) : bytes;
}

let recorded = 0;
for (const fixture of readFixtures(process.argv[2])) {
  if (fixture.handWritten) continue;
  const expected = normalizeRun(run(fixture));
  writeFileSync(join(fixture.dir, 'expected.json'), `${JSON.stringify(expected, null, 2)}\n`);
  recorded++;
}
console.log(`recorded ${recorded} fixtures with ${node}`);
