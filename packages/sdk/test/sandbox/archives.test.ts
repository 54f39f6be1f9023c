// Tests tar archives of a runtime's files, exported and imported, in every mode. The tests of the
// sidecar (`crates/kernel/src/fs/archive/tests`) cover the content of archives.

import { execFileSync } from 'node:child_process';
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

let hostFolder: string;
let archive: Buffer;

beforeAll(() => {
  hostFolder = mkdtempSync(join(tmpdir(), 'coldframe-tar-'));
  mkdirSync(join(hostFolder, 'project/src'), { recursive: true });
  writeFileSync(join(hostFolder, 'project/src/main.js'), 'console.log("unpacked")', { mode: 0o754 });
  writeFileSync(join(hostFolder, 'project/large'), Buffer.alloc(3_000_000, 7));
  symlinkSync('src/main.js', join(hostFolder, 'project/link'));
  archive = execFileSync('tar', ['-C', join(hostFolder, 'project'), '-cf', '-', '.'], { maxBuffer: 1 << 26 });
});

afterAll(() => rmSync(hostFolder, { recursive: true, force: true }));

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error) => [error.code, error.entry ?? error.option ?? error.path],
  );

async function bytes(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each(MODES)('$name', (mode) => {
  test('importTar() unpacks an archive of tar from every kind of source', () =>
    withRuntime(mode, {}, async (runtime) => {
      writeFileSync(join(hostFolder, 'a.tgz'), gzipSync(archive));
      const halves = [archive.subarray(0, 1), archive.subarray(1)];
      await runtime.importTar(archive, { path: '/tmp/1' });
      await runtime.importTar(halves, { path: '/tmp/2' });
      await runtime.importTar(Readable.from(halves), { path: '/tmp/3' });
      await runtime.importTar(createReadStream(join(hostFolder, 'a.tgz')), { path: '/tmp/4' });
      await runtime.importTar(new Blob([gzipSync(archive)]).stream() as never, { gzip: true });
      for (const path of ['/tmp/1', '/tmp/2', '/tmp/3', '/tmp/4', '/workspace']) {
        expect(await runtime.readDir(path)).toEqual(['large', 'link', 'src']);
        expect((await runtime.stat(`${path}/src/main.js`)).mode).toBe(0o100754);
        expect((await runtime.stat(`${path}/large`)).size).toBe(3_000_000);
      }
      expect((await runtime.execFile('link')).stdout).toBe('unpacked\n');
    }));

  test('tar unpacks an archive of exportTar()', () =>
    withRuntime(mode, {}, async (runtime) => {
      await runtime.exec(`
        import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
        mkdirSync('out');
        writeFileSync('out/a', 'a'.repeat(1_000_000), { mode: 0o640 });
        linkSync('out/a', 'out/b');
        symlinkSync('a', 'out/' + 'l'.repeat(150));
      `);
      for (const gzip of [false, true]) {
        const packed = await bytes(runtime.exportTar('/workspace', { gzip }));
        const folder = mkdtempSync(join(hostFolder, 'out-'));
        execFileSync('tar', ['-C', folder, gzip ? '-xzf' : '-xf', '-'], { input: packed });
        expect(readFileSync(join(folder, 'out/b'), 'utf8')).toBe('a'.repeat(1_000_000));
        expect(readFileSync(join(folder, 'out', 'l'.repeat(150)), 'utf8')).toHaveLength(1_000_000);
      }
      await runtime.importTar(runtime.exportTar(), { path: '/tmp/copy' });
      expect(await runtime.readDir('/tmp/copy/out')).toHaveLength(3);
      expect(await failure(bytes(runtime.exportTar('/none')))).toEqual(['ENOENT', '/none']);
    }));

  test('importTar() refuses broken archives and entries outside of the directory', () =>
    withRuntime(mode, { limits: { filesystemBytes: 2_000_000 } }, async (runtime) => {
      expect(await failure(runtime.importTar(Buffer.alloc(2_000, 'x')))).toEqual(['ERR_ARCHIVE', '']);
      expect(await failure(runtime.importTar(archive.subarray(0, 2_000)))).toEqual(['ERR_ARCHIVE', '']);
      expect(await failure(runtime.importTar(archive))).toEqual(['ENOSPC', '/workspace/large']);
      expect(await failure(runtime.importTar([new Uint8Array(2), 'x'] as never))).toEqual(['ERR_INVALID_OPTION', 'source']);
      expect(await failure(runtime.importTar(5 as never))).toEqual(['ERR_INVALID_OPTION', 'source']);
      expect(await failure(runtime.importTar(archive, { path: 'x' }))).toEqual(['ERR_INVALID_OPTION', 'path']);
      expect(await failure(runtime.importTar(archive, { path: '/etc/hosts' }))).toEqual(['ENOTDIR', '/etc/hosts']);
      expect(await failure(runtime.importTar(archive, { gzip: true }))).toEqual(['Z_DATA_ERROR', undefined]);
      const evil = execFileSync('tar', [
        '-P',
        '--transform',
        's,^,../../,',
        '-C',
        join(hostFolder, 'project'),
        '-cf',
        '-',
        'src/main.js',
      ]);
      expect(await failure(runtime.importTar(evil, { path: '/tmp/t' }))).toEqual(['ERR_ARCHIVE', '../../src/main.js']);
      async function* breaks() {
        yield archive.subarray(0, 5_000);
        throw Object.assign(new Error('source'), { code: 'ESOURCE' });
      }
      expect(await failure(runtime.importTar(breaks()))).toEqual(['ESOURCE', undefined]);
    }));
});
