// Tests user attributes of files in every mode: the calls of the app, the commands, archives,
// snapshots and bounds.

import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const code = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error) => error.code,
  );
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

describe.each(MODES)('$name', (mode) => {
  test('the app and programs share the user attributes of a file', () =>
    withRuntime(mode, { files: { '/workspace/f': 'x' } }, async (runtime) => {
      const { xattrs } = runtime;
      const sh = async (command: string) => (await runtime.execCommand('sh', ['-c', command])).stdout;
      expect(await xattrs.get('/workspace/f', 'user.a')).toBeUndefined();
      await xattrs.set('/workspace/f', 'user.a', 'one');
      await xattrs.set('/workspace/f', 'user.bytes', new Uint8Array([0, 255]));
      expect(await sh('getfattr -d f; getfattr -n user.bytes -e hex f; getfattr --only-values -n user.a f')).toBe(
        '# file: f\nuser.a="one"\nuser.bytes=0sAP8=\n\n# file: f\nuser.bytes=0x00ff\n\none',
      );
      await sh('setfattr -n user.b -v two f; setfattr -n user.hex -v 0x6869 f; setfattr -x user.bytes f; mv f g');
      expect([...(await xattrs.list('/workspace/g'))].map(([name, value]) => `${name} ${text(value)}`)).toEqual([
        'user.a one',
        'user.b two',
        'user.hex hi',
      ]);
      await xattrs.remove('/workspace/g', 'user.a');
      expect(await code(xattrs.remove('/workspace/g', 'user.a'))).toBe('ENODATA');
      expect(await code(xattrs.list('/none'))).toBe('ENOENT');
      expect(await code(xattrs.set('/workspace/g', 'trusted.a', ''))).toBe('ERR_INVALID_OPTION');
      expect(await code(xattrs.set('/proc/version', 'user.a', ''))).toBe('EOPNOTSUPP');
      const failed = await runtime.execCommand('sh', [
        '-c',
        'setfattr -n trusted.a -v 1 g; setfattr -n user.a -v 1 /etc/passwd; getfattr -n user.none g',
      ]);
      expect(failed.stderr).toBe(
        'setfattr: g: Operation not supported\nsetfattr: /etc/passwd: Permission denied\ng: user.none: No such attribute\n',
      );
    }));

  test('snapshots and archives contain user attributes', () =>
    withRuntime(mode, { files: { '/workspace/d/f': 'x' } }, async (runtime) => {
      const { xattrs } = runtime;
      const large = new Uint8Array(60_000).map((_, index) => index % 251);
      await xattrs.set('/workspace/d', 'user.directory', 'd');
      await xattrs.set('/workspace/d/f', 'user.large', large);
      await xattrs.set('/workspace/d/f', 'user.newline', 'a\nb=c');
      const snapshot = await runtime.snapshot();
      const archive = [];
      for await (const chunk of runtime.exportTar('/workspace')) archive.push(chunk);
      await runtime.importTar(archive, { path: '/copy' });
      expect(text(await xattrs.get('/copy/d', 'user.directory'))).toBe('d');
      expect(Buffer.compare((await xattrs.get('/copy/d/f', 'user.large')) as Uint8Array, large)).toBe(0);
      expect(text(await xattrs.get('/copy/d/f', 'user.newline'))).toBe('a\nb=c');
      const clone = await runtime.clone();
      await xattrs.remove('/workspace/d', 'user.directory');
      expect(text(await clone.xattrs.get('/workspace/d', 'user.directory'))).toBe('d');
      await clone.dispose();
      await runtime.rollback(snapshot);
      expect(text(await xattrs.get('/workspace/d', 'user.directory'))).toBe('d');
    }));

  test('the attributes of a file are bounded and count for the bytes of the filesystem', () =>
    withRuntime(mode, { files: { '/workspace/f': '' }, limits: { filesystemBytes: 100_000 } }, async (runtime) => {
      const { xattrs } = runtime;
      expect(await code(xattrs.set('/workspace/f', 'user.a', new Uint8Array(65_537)))).toBe('E2BIG');
      expect(await code(xattrs.set('/workspace/f', 'user.a', new Uint8Array(65_536)))).toBe('ENOSPC');
      expect(await code(xattrs.set('/workspace/f', `user.${'a'.repeat(251)}`, ''))).toBe('ERR_INVALID_OPTION');
      for (let n = 0; n < 256; n++) await xattrs.set('/workspace/f', `user.${n}`, '');
      expect(await code(xattrs.set('/workspace/f', 'user.more', ''))).toBe('ENOSPC');
      await runtime.writeFile('/workspace/g', '');
      const before = (await runtime.getResourceSnapshot()).filesystemBytes;
      await xattrs.set('/workspace/g', 'user.a', new Uint8Array(50_000));
      expect((await runtime.getResourceSnapshot()).filesystemBytes - before).toBe(50_000 + 'user.a'.length + 32);
      await runtime.writeFile('/workspace/h', '');
      expect(await code(xattrs.set('/workspace/h', 'user.a', new Uint8Array(60_000)))).toBe('ENOSPC');
      await runtime.remove('/workspace/g');
      expect((await runtime.getResourceSnapshot()).filesystemBytes).toBe(before);
    }));
});
