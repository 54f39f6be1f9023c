// Kills a sidecar without warning, as the system does when memory runs out.

import type { Sidecar } from 'coldframe';

/**
 * Kills the sidecar's process with SIGKILL. Resolves when the SDK has noticed the end of the
 * process.
 */
export async function killSidecar(sidecar: Sidecar): Promise<void> {
  process.kill(sidecar.pid, 'SIGKILL');
  const answers = () =>
    sidecar.ping().then(
      () => true,
      () => false,
    );
  while (await answers());
  await sidecar.dispose();
}
