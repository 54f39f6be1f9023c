// Tests the choice of the folder of images with `COLDFRAME_IMAGES`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { imageDir } from '../src/index.ts';

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'images-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test('returns the absolute path of the folder in COLDFRAME_IMAGES', () => {
  for (const name of ['guest.image', 'shell.image']) writeFileSync(join(folder, name), '');
  for (const given of [folder, relative(process.cwd(), folder)]) {
    vi.stubEnv('COLDFRAME_IMAGES', given);
    expect(imageDir()).toBe(folder);
  }
});

test('refuses a folder in COLDFRAME_IMAGES that lacks an image', () => {
  writeFileSync(join(folder, 'guest.image'), '');
  vi.stubEnv('COLDFRAME_IMAGES', folder);
  expect(imageDir).toThrow(`COLDFRAME_IMAGES: expected a folder with guest.image and shell.image, received "${folder}"`);
});
