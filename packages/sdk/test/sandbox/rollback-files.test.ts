// Reads and writes files larger than one message during a rollback or a pause. No file may contain
// bytes of two states.

import { describe, expect, test } from 'vitest';
import type { NodeRuntime } from '../../src/index.js';
import { MODES, withRuntime } from './modes.js';
import { codeOf } from './network-helpers.js';
import { usePrivateStoreFolder } from './snapshot-helpers.js';

usePrivateStoreFolder();

// The file needs three messages of at most 16 MiB.
const BYTES = 40 * 1024 * 1024;
const FILE = '/workspace/file';
const full = (letter: string): Buffer => Buffer.alloc(BYTES, letter);

/** Returns the letter that fills the file, or a description of a mixed file. */
function letterOf(bytes: Uint8Array): string {
  const letter = String.fromCharCode(bytes[0] ?? 0);
  return full(letter).equals(bytes) ? letter : `${bytes.length} bytes that begin with ${letter}`;
}

const contentOf = async (runtime: NodeRuntime): Promise<string> => letterOf(await runtime.readFile(FILE));

describe.each(MODES)('$name', (mode) => {
  test('a file that is read or written during a rollback has one state', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile(FILE, full('a'));
      const snapshot = await runtime.snapshot();
      await runtime.writeFile(FILE, full('b'));
      const read = contentOf(runtime).catch((error) => error.code);
      await runtime.rollback(snapshot);
      expect(await read).toMatch(/^(a|b|ERR_ROLLED_BACK)$/);
      const written = codeOf(runtime.writeFile(FILE, full('c')));
      await runtime.rollback(snapshot);
      expect(await written).toMatch(/^(no error|ERR_ROLLED_BACK)$/);
      expect(await contentOf(runtime)).toBe('a');
    }));

  test('a write fails when the runtime is paused, and the resumed runtime works', () =>
    withRuntime(mode, {}, async (runtime) => {
      const written = codeOf(runtime.writeFile(FILE, full('a')));
      const paused = await runtime.pause();
      await runtime.resume();
      expect(await written).toMatch(/^(no error|ERR_RUNTIME_PAUSED)$/);
      await runtime.writeFile(FILE, full('b'));
      expect(await contentOf(runtime)).toBe('b');
      await paused.delete();
    }));

  test('a large file is created and replaced as a small file is', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.writeFile('/tmp/new/folder/file', full('a'), { mode: 0o755 });
      expect(await runtime.stat('/tmp/new/folder/file')).toMatchObject({ mode: 0o100755, size: BYTES, uid: 1000 });
      await runtime.writeFile('/tmp/new/folder/file', full('b').subarray(0, 17 * 1024 * 1024));
      expect(await runtime.stat('/tmp/new/folder/file')).toMatchObject({ mode: 0o100755, size: 17 * 1024 * 1024 });
      await runtime.writeFile('/tmp/new/folder/file', 'small');
      expect(Buffer.from(await runtime.readFile('/tmp/new/folder/file')).toString()).toBe('small');
      await expect(runtime.writeFile('/tmp', full('a'))).rejects.toMatchObject({ code: 'EISDIR', path: '/tmp' });
    }));
});
