// Tests the number of image pages that a process writes. Each such page is private memory of the
// process and costs a fault and a copy.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DevGuest, startEvent } from '../../build/dev-host.mjs';
import { inputsDir } from '../../build/paths.mjs';

const PAGE = 4096;
const MOST_KIB_AFTER_ONE_EXEC = 300;
const MOST_PAGES_OF_A_COLLECTION = 10;

/** Returns the number of pages that differ from the image. */
function dirtyPages(guest, image) {
  const memory = Buffer.from(guest.memory.buffer);
  const before = Buffer.from(image.buffer);
  let count = 0;
  for (let at = 0; at < memory.length; at += PAGE) {
    const page = memory.subarray(at, at + PAGE);
    const same = at < before.length ? page.equals(before.subarray(at, at + PAGE)) : page.every((byte) => byte === 0);
    if (!same) count++;
  }
  return count;
}

describe('the private memory of a process', async () => {
  // The product has no global for the collector, so this bootstrap adds the global `__collect`.
  const main = Buffer.concat([
    readFileSync(join(inputsDir, 'bootstrap/main.js')),
    Buffer.from('\nglobalThis.__collect = native.gc; globalThis.__nothing = () => {};\n'),
  ]);
  const buildFile = (name) => (name === 'bootstrap/main.js' ? main : readFileSync(join(inputsDir, name)));
  const guest = new DevGuest({ buildFile, write: (_fd, bytes) => bytes.length }).boot();
  const image = guest.snapshot();
  const pagesOf = async (source) => {
    guest.restore(image);
    const { exitCode } = await guest.run(startEvent({ source }));
    expect(exitCode).toBe(0);
    return dirtyPages(guest, image);
  };

  it(`stays within ${MOST_KIB_AFTER_ONE_EXEC} KiB for a program that prints a line`, async () => {
    const pages = await pagesOf('console.log(1 + 1)');
    expect((pages * PAGE) / 1024).toBeLessThanOrEqual(MOST_KIB_AFTER_ONE_EXEC);
  });

  it(`grows by at most ${MOST_PAGES_OF_A_COLLECTION} pages in a full collection`, async () => {
    const without = await pagesOf('__nothing()');
    const withOne = await pagesOf('__collect()');
    expect(withOne - without).toBeLessThanOrEqual(MOST_PAGES_OF_A_COLLECTION);
  });
});
