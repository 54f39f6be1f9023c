// Ensures that only one build at a time runs in a checkout. A second build waits, and then usually
// finds every step up to date.
//
// The lock is a file with the holder's process id. If the holder is killed, the file remains. The
// next build detects that no process has the id, and takes the lock.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stateDir } from './paths.mjs';

const POLL_MS = 250;

const LOCK = join(stateDir, 'lock');

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function tryTake(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function holder(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined;
  } catch {
    return undefined; // the owner of the lock has just removed the file
  }
}

/**
 * Removes the lock of a holder that has ended. A rename makes sure that only one of two waiters
 * removes the lock, and that the lock of a new holder stays.
 */
function takeAway(path, pid) {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    if (Number(readFileSync(aside, 'utf8')) === pid) rmSync(aside);
    else renameSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

/**
 * Runs `work` while no other build runs in this checkout. If another build runs, first calls
 * `onWait` once with the holder's pid, and waits.
 */
export async function withLock(work, onWait, path = LOCK) {
  mkdirSync(stateDir, { recursive: true });
  let hasReported = false;
  while (!tryTake(path)) {
    const pid = holder(path);
    if (pid !== undefined && !isAlive(pid)) {
      takeAway(path, pid);
      continue;
    }
    if (!hasReported && pid !== undefined) onWait(pid);
    hasReported = true;
    await sleep(POLL_MS);
  }
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}
