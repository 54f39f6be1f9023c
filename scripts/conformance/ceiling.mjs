// Runs the files in the real Node. The files that pass in Node are the most that can pass in the
// sandbox. Results are cached by the file's digest, Node's version and the digest of this script.
// Concurrent files have folders of their own, laid out like Node's (`test/parallel`, `test/common`,
// `test/fixtures`), with temporary files of their own. The tests' helpers name one fixed folder
// below /tmp, where concurrent files would delete each other's files.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GUEST_TESTS, TEMPORARY } from './paths.mjs';
import { resultOf } from './result.mjs';

const MAX_OUTPUT = 1 << 20;

/**
 * Returns `run` and `close`. `run` runs a file in a folder that no other running file uses, and
 * resolves with `{ result, reason, ms }`. `close` removes the folders.
 */
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
      return { ...resultOf(withoutPlace(ended, place)), ms: Math.round(performance.now() - started) };
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

// Makes a folder with the helpers and the fixtures of Node's tests. Replaces the helpers' absolute
// paths by paths below the folder.
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

// Removes the folder's name from stderr, so that each run has equal text.
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
        // the process has just ended
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
      // Ends processes that the test left running, because they would keep the pipes open.
      stop();
      child.on('close', () => done({ exitCode, signal, timedOut, ...text }));
    });
  });
}
