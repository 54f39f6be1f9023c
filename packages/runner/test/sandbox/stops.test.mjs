// Every long native loop of the engine stops soon after a request to stop, and no code of a program
// can prevent the stop.
import { describe, expect, it } from 'vitest';
import { BareGuest } from '../engine/bare-guest.mjs';
import { STOP_CASES } from '../engine/stop-cases.mjs';

const RUNS_FOR_MS = 30;
/**
 * The promise is 50 ms on an idle machine. A busy machine may need more time. If no poll stops the
 * guest, the sidecar kills the guest, which needs no poll.
 */
const STOPS_WITHIN_MS = 400;

describe('a guest stops soon after the request', () => {
  let stopAt;
  const guest = new BareGuest({
    onText: (text) => {
      if (text === 'READY\n') stopAt = guest.stopAfter(RUNS_FOR_MS);
    },
  });

  it.each(Object.entries(STOP_CASES))('%s', async (_name, { prepare = '', loop }) => {
    stopAt = undefined;
    const { exitReason, exitCode, out } = await guest.run(`${prepare}\nconsole.log('READY');\n${loop}`);
    expect({ exitReason, exitCode, out }).toEqual({ exitReason: 3, exitCode: 137, out: 'READY\n' });
    expect(performance.now() - stopAt).toBeLessThan(STOPS_WITHIN_MS);
  });
});
