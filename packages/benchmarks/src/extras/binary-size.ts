// The sidecar's binary as it is really run: the file behind the process, not a path that a build might have left.

import { Sidecar } from 'coldframe';
import { type BinarySize, binaryOfProcess } from '../machine/binary.js';

export async function measureBinary(): Promise<BinarySize> {
  const sidecar = await Sidecar.spawn();
  try {
    return binaryOfProcess(sidecar.pid);
  } finally {
    await sidecar.dispose();
  }
}
