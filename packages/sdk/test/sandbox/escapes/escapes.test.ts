// The escape suite: what hostile programs try, and that nobody else notices. See README.md for how to add a case.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { THEMES } from './cases/index.js';
import { run } from './harness/run.js';
import { closeScene, openScene, type Scene } from './harness/scene.js';

/** The suite grows for ever; it may not shrink. */
const LEAST_CASES = 150;

let scene: Scene;

beforeAll(async () => {
  scene = await openScene();
});

afterAll(() => closeScene(scene));

test('the suite is as large as it was promised to be, and every case has a name of its own', () => {
  const names = THEMES.flatMap((theme) => theme.cases.map((attempt) => attempt.name));
  expect(names.length).toBeGreaterThanOrEqual(LEAST_CASES);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

for (const theme of THEMES) {
  describe(theme.name, () => {
    for (const attempt of theme.cases) {
      const work = async (): Promise<void> => expect(await run(scene, attempt)).toEqual([]);
      // A hole that is known is tried all the same; its case says so when it has been closed.
      if (attempt.fails) test.fails(`${attempt.name} (open: ${attempt.fails})`, work);
      else test(attempt.name, work);
    }
  });
}
