// Runs the files in the sandbox through the public SDK: each file in its own runtime, all runtimes
// in one sidecar. The tests' folder is mounted read-only. Temporary files are stored in the runtime
// and are removed with the runtime.

import { GUEST_ROOT, GUEST_RUNS, GUEST_TESTS } from './paths.mjs';
import { resultOf } from './result.mjs';

/** The runtime's memory limit. Some tests make a buffer as long as Node's longest string. */
const MEMORY = 3 * 2 ** 29;

/**
 * Keeps a sidecar, and replaces the sidecar after its end. A file that kills the sidecar must not
 * make later files fail.
 */
export function openSandbox({ NodeRuntime, Sidecar }, folder, jobs) {
  const spawn = () => Sidecar.spawn({ workers: jobs });
  let sidecar = spawn();
  const mounts = [GUEST_TESTS, GUEST_RUNS].map((guestPath) => ({ guestPath, hostPath: folder, readOnly: true }));

  async function run(file, timeoutMs) {
    const started = performance.now();
    const used = sidecar;
    const ended = await end(await used, file, timeoutMs);
    if (ended.error?.code === 'ERR_SIDECAR_EXITED' && used === sidecar) sidecar = spawn();
    return { ...resultOf(ended), ms: Math.round(performance.now() - started) };
  }

  async function end(shared, { name, flags }, timeoutMs) {
    const limits = { memoryBytes: MEMORY, cpuMs: timeoutMs };
    let runtime;
    try {
      runtime = await NodeRuntime.create({ sidecar: shared, mounts, limits, cwd: GUEST_ROOT, network: {} });
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
