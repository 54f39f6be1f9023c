// Runs every guest fixture in the dev host. The output must equal the recorded output of the real
// Node, as a program and in a resident runner.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { normalizeRun, readFixtures } from '../build/fixtures.mjs';
import { GuestThread } from './guest-thread.mjs';

// The sidecar enforces limits and has the kernel, so the SDK's tests run the fixtures that need
// limits or a kernel.
const fixtures = readFixtures().filter((fixture) => !fixture.handWritten && !fixture.kernel);

let guest;
beforeAll(async () => {
  guest = await GuestThread.start();
}, 60_000);
afterAll(() => guest.stop());

describe.each(['exec', 'resident'])('%s', (mode) => {
  test.each(fixtures.filter((fixture) => fixture.modes?.includes(mode) ?? true))('$name', async (fixture) => {
    expect(normalizeRun(await guest.run(mode, fixture))).toEqual(fixture.expected);
  });
});
