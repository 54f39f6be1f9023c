// Streams 100 MB of stdout to a slow reader. Every byte must arrive in order. This process and the
// sidecar must buffer at most the window.

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';
import { childrenOf, residentBytes, sleep } from './processes.js';

const MEGABYTE = 1 << 20;
const TOTAL = 100 * MEGABYTE;
const BLOCK = 100_000;

// All blocks are different, so the hash detects lost, doubled and swapped blocks.
const WRITER = `
  const block = new Uint8Array(${BLOCK});
  let left = ${TOTAL};
  for (let n = 0; left > 0; n++) {
    block.fill(n & 0xff);
    block[0] = n >> 8;
    const part = block.subarray(0, Math.min(left, block.length));
    left -= part.length;
    if (!process.stdout.write(part.slice())) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }`;

function expectedHash(): string {
  const hash = createHash('sha256');
  const block = Buffer.alloc(BLOCK);
  for (let n = 0, left = TOTAL; left > 0; n++) {
    block.fill(n & 0xff);
    block[0] = n >> 8;
    const part = block.subarray(0, Math.min(left, BLOCK));
    left -= part.length;
    hash.update(part);
  }
  return hash.digest('hex');
}

describe.each(MODES)('$name', (mode) => {
  test('a slow reader gets every byte with bounded memory on both sides', () =>
    withRuntime(mode, { limits: { outputBytes: MEGABYTE } }, async (runtime) => {
      await runtime.exec('console.log(1)');
      const pids = mode.name.startsWith('embedded') ? [process.pid] : [process.pid, ...childrenOf()];
      const before = pids.map((pid) => residentBytes(pid));
      const peaks = [...before];
      const hash = createHash('sha256');
      let bytes = 0;
      let handling = 0;
      const onStdout = async (chunk: Uint8Array): Promise<void> => {
        expect(++handling, 'one chunk at a time').toBe(1);
        expect(chunk.length).toBeLessThanOrEqual(65_536);
        hash.update(chunk);
        bytes += chunk.length;
        // A writer without backpressure writes 100 MB in less than a second, so this delay would
        // let the writer run far ahead.
        if (bytes % (4 * MEGABYTE) < 65_536) {
          await sleep(40);
          for (const [i, pid] of pids.entries()) peaks[i] = Math.max(peaks[i] ?? 0, residentBytes(pid));
        }
        handling--;
      };
      const result = await runtime.exec(WRITER, { onStdout });
      expect(result).toMatchObject({ exitCode: 0, stderr: '', stdoutTruncated: true });
      expect(result.stdout.length).toBeLessThanOrEqual(MEGABYTE);
      expect(bytes).toBe(TOTAL);
      expect(hash.digest('hex')).toBe(expectedHash());
      const grown = peaks.map((peak, i) => Math.round((peak - (before[i] ?? 0)) / MEGABYTE));
      // The window is 256 KiB. Further growth is garbage that is not collected yet.
      expect(Math.max(...grown), `megabytes grown in this process and the sidecar: ${grown}`).toBeLessThan(50);
    }));

  test('a reader that never continues does not block the sidecar', () =>
    withRuntime(mode, {}, async (runtime) => {
      const controller = new AbortController();
      let chunks = 0;
      const stuck = runtime.exec('for (;;) console.log("x".repeat(1000))', {
        signal: controller.signal,
        onStdout: () => {
          chunks++;
          return new Promise(() => {});
        },
      });
      const failed = expect(stuck).rejects.toBe('enough');
      await sleep(100);
      expect((await runtime.exec('console.log("next door")')).stdout).toBe('next door\n');
      const { bufferedBytes, sidecar } = await runtime.getResourceSnapshot();
      expect(Math.max(bufferedBytes, sidecar.bufferedBytes)).toBeLessThanOrEqual(17 * MEGABYTE);
      controller.abort('enough');
      await failed;
      expect(chunks).toBe(1);
    }));
});
