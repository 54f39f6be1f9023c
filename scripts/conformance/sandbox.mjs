// The same files in the sandbox: each in a runtime of its own, all of them in one sidecar, through the public SDK and nothing else.
// The tests' folder is mounted read-only; temporary files live in the runtime and end with it.

import { GUEST_ROOT, GUEST_RUNS, GUEST_TESTS } from './places.mjs';
import { verdict } from './verdict.mjs';

/** More than the longest string of Node takes: some tests make a buffer of that size. */
const MEMORY = 3 * 2 ** 29;

/** A sidecar that is replaced when it ends: a file that kills it must not fail the files after it. */
export function openBox({ NodeRuntime, Sidecar }, folder, jobs) {
  const spawn = () => Sidecar.spawn({ workers: jobs });
  let sidecar = spawn();
  const mounts = [GUEST_TESTS, GUEST_RUNS].map((guestPath) => ({ guestPath, hostPath: folder, readOnly: true }));

  async function run(file, timeoutMs) {
    const started = performance.now();
    const used = sidecar;
    const ended = await end(await used, file, timeoutMs);
    if (ended.error?.code === 'ERR_SIDECAR_EXITED' && used === sidecar) sidecar = spawn();
    return { ...verdict(ended), ms: Math.round(performance.now() - started) };
  }

  async function end(shared, { name, flags }, timeoutMs) {
    const limits = { memoryBytes: MEMORY, cpuMs: timeoutMs };
    let runtime;
    try {
      runtime = await NodeRuntime.create({ sidecar: shared, mounts, limits, cwd: GUEST_ROOT });
      const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', NODE_TEST_DIR: '/tmp' };
      const path = `${GUEST_RUNS}/parallel/${name}`;
      return shape(await runtime.execFile(path, { execArgv: flags, env, timeout: timeoutMs }));
    } catch (error) {
      return { error };
    } finally {
      await runtime?.dispose().catch(() => {});
    }
  }

  return {
    run,
    async close() {
      await (await sidecar).dispose();
    },
  };
}

function shape({ exitCode, stdout, stderr, error }) {
  const timedOut = error?.code === 'ERR_TIMEOUT' || error?.code === 'ERR_CPU_LIMIT';
  return { exitCode, stdout, stderr, timedOut, error: timedOut ? undefined : error };
}
