// Measures the size of the sidecar's binary, the file that a running sidecar process executes. The
// row starts a sidecar for this purpose.

import { Sidecar } from 'coldframe';
import { type BinarySize, binaryOfProcess } from '../machine/binary.js';
import type { Section } from '../suite/benchmark.js';
import type { Recorded } from '../suite/run.js';
import { isFailure } from '../suite/run.js';

export type BinaryRun = { sidecarBinary?: Recorded<BinarySize> | null };

export const sidecarBinary: Section<unknown, BinaryRun, 'sidecarBinary'> = {
  field: 'sidecarBinary',
  isSingle: true,
  recordsFailures: true,
  open: () => ({
    rows: [
      {
        name: 'sidecar binary',
        key: { row: 'sidecar binary' },
        measure: async () => {
          const sidecar = await Sidecar.spawn();
          try {
            return binaryOfProcess(sidecar.pid);
          } finally {
            await sidecar.dispose();
          }
        },
      },
    ],
  }),
  describe: ({ bytes, stripped }) => `${(bytes / 1e6).toFixed(2)} MB, ${stripped ? 'stripped' : 'not stripped'}`,
  outcomes: () => [],
  targets: [
    {
      promise: 'M3',
      what: 'sidecar binary',
      unit: 'MB',
      atMost: 5.5,
      measured: ({ sidecarBinary: size }) => (size && !isFailure(size) ? size.bytes / 1e6 : undefined),
    },
  ],
};

export const binaryWarnings = ({ sidecarBinary: size }: BinaryRun): string[] =>
  size && !isFailure(size) && !size.stripped ? ['the sidecar binary is not stripped: its size is not that of a release'] : [];
