// Finds the source of CPython: an archive that is pinned by its digest. The source is not part of
// this tree. The build tries three places in this order:
//
//   1. `COLDFRAME_PYTHON_SOURCE`, the path of the archive
//   2. the source package of the distribution, from the mirror in apt's own configuration
//   3. the release archive of the Python project
//
// All places have the same bytes, and the digest decides. A downloaded archive stays in the cache,
// because a distribution removes the archives of old versions. `node
// packages/python/build/source.mjs` only finds the archive. Next: archive.mjs unpacks.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { say, step } from '../../runner/build/progress.mjs';
import { unpack } from './archive.mjs';
import { cacheDir } from './paths.mjs';
import { unpackWheel, WHEEL_PATH } from './wheel.mjs';

export const PYTHON_VERSION = '3.13.15';
const SHA256 = '1e66a7945a48390ee4c2a4268a0e4185884059a13c4aab6d148aa208deea4a76';
/** The archive's place below the root of a mirror of the distribution. */
const POOL_PATH = `pool/main/p/python3.13/python3.13_${PYTHON_VERSION}.orig.tar.xz`;
const RELEASE = `https://www.python.org/ftp/python/${PYTHON_VERSION}/Python-${PYTHON_VERSION}.tar.xz`;

/**
 * Returns the files of the source that the build reads, with the files of pip's wheel.
 * @returns {Promise<Map<string, Buffer>>} path to bytes
 */
export async function readSource() {
  const archive = await findArchive();
  const files = await step(`unpacking CPython ${PYTHON_VERSION}`, undefined, () => unpack(archive, isRead));
  unpackWheel(files);
  return files;
}

/**
 * Returns the files of CPython's own tests, which the build does not read.
 * @returns {Promise<Map<string, Buffer>>} path below `Lib` to bytes
 */
export async function readTests() {
  const archive = await findArchive();
  const files = await step(`unpacking the tests of CPython ${PYTHON_VERSION}`, undefined, () =>
    unpack(archive, (path) => path.startsWith('Lib/test/')),
  );
  return new Map([...files].map(([path, bytes]) => [path.slice('Lib/'.length), bytes]));
}

/** The folders that the build reads. The tests and the documentation are left out. */
function isRead(path) {
  if (WHEEL_PATH.test(path)) return true;
  if (/^Lib\/(?:test|idlelib|tkinter|turtledemo|ensurepip|lib2to3|pydoc_data)\/|^Lib\/turtle\.py$/.test(path)) return false;
  return (
    path === 'LICENSE' ||
    path === 'Tools/freeze/flag.py' ||
    /^(?:Include|Lib|Modules|Objects|Parser|Programs|Python)\//.test(path)
  );
}

async function findArchive() {
  const given = process.env.COLDFRAME_PYTHON_SOURCE;
  if (given) return checked(readFileSync(given), given);
  const cached = join(cacheDir, 'python', `cpython-${PYTHON_VERSION}.tar.xz`);
  if (existsSync(cached)) return checked(readFileSync(cached), cached);

  mkdirSync(dirname(cached), { recursive: true });
  const failures = [];
  for (const [place, download] of [
    ['the mirror of the distribution', downloadFromMirror],
    ['the Python project', downloadRelease],
  ]) {
    const temporary = `${cached}.${process.pid}`;
    try {
      await step(`downloading CPython ${PYTHON_VERSION} from ${place}`, undefined, () => download(temporary));
      const bytes = checked(readFileSync(temporary), place);
      renameSync(temporary, cached);
      return bytes;
    } catch (error) {
      rmSync(temporary, { force: true });
      failures.push(`  ${place}: ${error.message.trim().split('\n').at(-1)}`);
      say(failures.at(-1));
    }
  }
  throw new Error(
    `the source of CPython ${PYTHON_VERSION} could not be downloaded:\n${failures.join('\n')}\n` +
      `Set COLDFRAME_PYTHON_SOURCE to the path of its .tar.xz with the SHA-256 ${SHA256}.`,
  );
}

/** Returns `bytes` if they are the pinned archive. */
function checked(bytes, place) {
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== SHA256) throw new Error(`${place}: expected the SHA-256 ${SHA256}, found ${found}`);
  return bytes;
}

/** Downloads with apt, which knows the mirror and its proxies. */
function downloadFromMirror(path) {
  const format = ['--format', '$(REPO_URI)', 'Created-By: Packages', 'Origin: Debian', 'Component: main'];
  const mirrors = new Set(
    apt('apt-get', ['indextargets', ...format])
      .split('\n')
      .filter(Boolean),
  );
  let failure = new Error('apt has no mirror of Debian');
  for (const mirror of mirrors) {
    try {
      apt('/usr/lib/apt/apt-helper', ['download-file', `${mirror}${POOL_PATH}`, path, `SHA256:${SHA256}`]);
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function apt(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(error.code === 'ENOENT' ? 'this machine has no apt' : error.stderr);
  }
}

async function downloadRelease(path) {
  const response = await fetch(RELEASE);
  if (!response.ok) throw new Error(`${RELEASE}: status ${response.status}`);
  writeFileSync(path, Buffer.from(await response.arrayBuffer()));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    say(`CPython ${PYTHON_VERSION}: an archive of ${(await findArchive()).length} bytes`);
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
