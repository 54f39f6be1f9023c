// Every guest fixture in the developer's host: what the real Node did is what the guest must do, as a program and in a resident runner.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { normalizeRun, readFixtures } from '../build/fixtures.mjs';
import { GuestThread } from './guest-thread.mjs';

// The limits are the host's, and so is the kernel: the SDK's tests run those.
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
