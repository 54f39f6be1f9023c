// The real Node on the same files: what passes there is the most that can be asked of the sandbox. Its results are cached by the
// file's digest and by Node's version, since neither changes from run to run.
// Files that run at the same time have folders of their own, laid out like Node's (`test/parallel`, `test/common`, `test/fixtures`), with temporary
// files of their own: the tests' helpers name one fixed folder below /tmp, in which they would delete each other's files.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GUEST_TESTS, TEMPORARY } from './places.mjs';
import { verdict } from './verdict.mjs';

const MAX_OUTPUT = 1 << 20;

/** Runs files, as many at once as it has places for; each file's end is `{ result, reason, ms }`. */
export function openCeiling(node, folder) {
  const free = [];
  const made = [];

  async function run(file, timeoutMs) {
    const place = free.pop() ?? layOut(folder, made);
    const test = join(place, 'test', 'parallel', file.name);
    cpSync(join(folder, 'parallel', file.name), test);
    mkdirSync(join(place, 'tmp'), { recursive: true });
    try {
      const started = performance.now();
      const ended = await end(node, place, file, timeoutMs);
      return { ...verdict(withoutPlace(ended, place)), ms: Math.round(performance.now() - started) };
    } finally {
      rmSync(test, { force: true });
      rmSync(join(place, 'tmp'), { recursive: true, force: true, maxRetries: 3 });
      free.push(place);
    }
  }

  return {
    run,
    close() {
      for (const place of made) rmSync(place, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

// What the helpers name by absolute paths is moved below the place.
function layOut(folder, made) {
  const place = mkdtempSync(join(tmpdir(), 'conformance-'));
  made.push(place);
  const test = join(place, 'test');
  mkdirSync(join(test, 'parallel'), { recursive: true });
  for (const name of ['common', 'fixtures'])
    cpSync(join(folder, name), join(test, name), { recursive: true, verbatimSymlinks: true });
  for (const helper of readdirSync(join(test, 'common')).filter((entry) => /\.m?js$/.test(entry))) {
    const path = join(test, 'common', helper);
    const source = readFileSync(path, 'utf8').replaceAll(`'${GUEST_TESTS}/`, `'${test}/`);
    writeFileSync(path, source.replaceAll(TEMPORARY, join(place, 'tmp', 'node-test')));
  }
  return place;
}

// The same text in each run: the place has another name each time.
const withoutPlace = (ended, place) => ({ ...ended, stderr: ended.stderr?.replaceAll(place, '') });

function end(node, place, { name, flags }, timeoutMs) {
  return new Promise((done) => {
    const environment = { PATH: process.env.PATH, HOME: place, TMPDIR: join(place, 'tmp'), NODE_TEST_DIR: join(place, 'tmp') };
    const options = { cwd: place, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true };
    const child = spawn(node, [...flags, join(place, 'test', 'parallel', name)], options);
    const text = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr']) {
      child[stream].setEncoding('utf8').on('data', (chunk) => {
        if (text[stream].length < MAX_OUTPUT) text[stream] += chunk;
      });
    }
    let timedOut = false;
    const stop = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended in the meantime.
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, timeoutMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      done({ error });
    });
    child.on('exit', (exitCode, signal) => {
      clearTimeout(timer);
      // What it left running would hold the pipes open.
      stop();
      child.on('close', () => done({ exitCode, signal, timedOut, ...text }));
    });
  });
}
