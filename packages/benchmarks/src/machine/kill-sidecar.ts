// Ends a sidecar as the system would when memory runs out: at once, without a word.

import type { Sidecar } from 'coldframe';

/** Kills the process, and resolves when its death has been noticed. */
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
