// Runs a module in the sandbox and in the native Python. Each run returns the outcome of each test.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = readFileSync(fileURLToPath(new URL('run_module.py', import.meta.url)), 'utf8');
const GUEST_TESTS = '/tests';
const MEMORY = 1 << 30;

/** Returns the outcomes in an output, and whether the module ended. */
export function outcomesOf(output) {
  const tests = new Map();
  let ended = false;
  let reason = '';
  for (const [, line] of output.matchAll(/^@@ (.*)$/gm)) {
    const [name, outcome, error] = JSON.parse(line);
    if (name !== '') tests.set(name, { outcome, error });
    else if (outcome === 'end') ended = true;
    else reason = error;
  }
  return { tests, ended: ended || reason !== '', reason };
}

/** Finds a native Python of the version 3.13. Returns `undefined` if the machine has none. */
export function findNative(given) {
  const versions = join(homedir(), '.pyenv/versions');
  const own = existsSync(versions) ? readdirSync(versions).filter((name) => name.startsWith('3.13.')) : [];
  for (const command of given ? [given] : ['python3.13', ...own.map((name) => join(versions, name, 'bin/python3'))]) {
    try {
      const code = 'import platform, sys; print(sys.executable, platform.python_version())';
      const [path, version] = execFileSync(command, ['-c', code], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
        .trim()
        .split(' ');
      if (version.startsWith('3.13.')) return { path, version };
    } catch {
      // The command does not exist, or selects another version.
    }
  }
  return undefined;
}

/** Runs a module in the native Python, in a folder of its own. */
export function runNative({ path }, folder, name, timeout) {
  const cwd = mkdtempSync(join(tmpdir(), 'python-conformance-'));
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    TMPDIR: cwd,
    PYTHONPATH: folder,
    LANG: 'C.UTF-8',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return new Promise((resolve) => {
    const options = { cwd, env, timeout, killSignal: 'SIGKILL', maxBuffer: 64 << 20 };
    execFile(path, ['-c', PROGRAM, name, folder], options, (_error, stdout) => {
      rmSync(cwd, { recursive: true, force: true });
      resolve(outcomesOf(stdout));
    });
  });
}

/** Opens the sandbox. A module runs in a runtime of its own. */
export function openSandbox({ NodeRuntime, Sidecar }, folder, jobs) {
  const spawn = () => Sidecar.spawn({ workers: jobs });
  let sidecar = spawn();
  const mounts = [{ guestPath: GUEST_TESTS, hostPath: folder, overlay: true }];
  return {
    async run(name, timeout) {
      const used = sidecar;
      let runtime;
      try {
        const limits = { memoryBytes: MEMORY, cpuMs: timeout, outputBytes: 64 << 20 };
        runtime = await NodeRuntime.create({ sidecar: await used, mounts, limits, cwd: '/tmp' });
        const env = { PYTHONPATH: GUEST_TESTS, HOME: '/tmp', LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' };
        const result = await runtime.exec(PROGRAM, { language: 'python', args: [name, GUEST_TESTS], env, timeout });
        const outcomes = outcomesOf(result.stdout);
        const last = result.stderr.trim().split('\n').at(-1);
        const reason = result.error?.message ?? (last || `exit code ${result.exitCode}`);
        return outcomes.ended ? outcomes : { ...outcomes, reason };
      } catch (error) {
        if (error.code === 'ERR_SIDECAR_EXITED' && used === sidecar) sidecar = spawn();
        return { tests: new Map(), ended: false, reason: error.message };
      } finally {
        await runtime?.dispose().catch(() => {});
      }
    },
    close: async () => (await sidecar).dispose(),
  };
}
