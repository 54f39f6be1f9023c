// The real Node on the same files: what passes there is the most that can be asked of the sandbox. Its results are cached by the
// file's digest and by Node's version, since neither changes from run to run.
// Each file gets a folder of its own, laid out like Node's (`test/parallel`, `test/common`, `test/fixtures`), and temporary files of its own: the
// tests' helpers name one fixed folder below /tmp, in which files that run at the same time would delete each other's files.

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { TEMPORARY } from './places.mjs';
import { verdict } from './verdict.mjs';

const MAX_OUTPUT = 1 << 20;

/** Runs one file; resolves to `{ result, reason, ms }`. */
export async function runInNode(node, folder, file, timeoutMs) {
  const place = layOut(folder, file);
  try {
    const started = performance.now();
    const ended = await end(node, place, file, timeoutMs);
    return { ...verdict(ended), ms: Math.round(performance.now() - started) };
  } finally {
    rmSync(place, { recursive: true, force: true, maxRetries: 3 });
  }
}

function layOut(folder, { name }) {
  const place = mkdtempSync(join(tmpdir(), 'conformance-'));
  const test = join(place, 'test');
  mkdirSync(join(test, 'parallel'), { recursive: true });
  mkdirSync(join(place, 'tmp'));
  cpSync(join(folder, 'parallel', name), join(test, 'parallel', name));
  cpSync(join(folder, 'common'), join(test, 'common'), { recursive: true });
  for (const helper of readdirSync(join(test, 'common')).filter((entry) => entry.endsWith('.js'))) {
    const path = join(test, 'common', helper);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(TEMPORARY, join(place, 'tmp', 'node-test')));
  }
  symlinkSync(resolve(folder, 'fixtures'), join(test, 'fixtures'));
  return place;
}

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
