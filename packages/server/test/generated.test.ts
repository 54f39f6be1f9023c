// Checks that the generated messages have the state of `proto/`.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(PACKAGE, 'node_modules/.bin');

test('the generated messages are current', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coldframe-buf-'));
  try {
    const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}`, HOME: folder };
    await promisify(execFile)(join(BIN, 'buf'), ['generate', '--output', folder], { cwd: PACKAGE, env });
    const names = await readdir(join(folder, 'src/generated'));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      const generated = await readFile(join(folder, 'src/generated', name), 'utf8');
      expect(await readFile(join(PACKAGE, 'src/generated', name), 'utf8')).toBe(generated);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
