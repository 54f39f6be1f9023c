// Every long native loop of the engine stops soon after a request to stop, and no code of a program
// can prevent the stop.
import { describe, expect, it } from 'vitest';
import { BareGuest } from '../engine/bare-guest.mjs';
import { STOP_CASES } from '../engine/stop-cases.mjs';

const RUNS_FOR_MS = 30;
/**
 * The bound of the CPU time from the start of the loop to the end of the guest. CPU time does not
 * grow while other processes run. The promise is a stop within 50 ms on an idle machine. If no poll
 * stops the guest, the sidecar kills the guest, which needs no poll.
 */
const STOPS_WITHIN_CPU_MS = RUNS_FOR_MS + 400;

describe('a guest stops soon after the request', () => {
  let atReady;
  const guest = new BareGuest({
    onText: (text) => {
      if (text !== 'READY\n') return;
      atReady = process.cpuUsage();
      guest.stopAfter(RUNS_FOR_MS);
    },
  });

  it.each(Object.entries(STOP_CASES))('%s', async (_name, { prepare = '', loop }) => {
    atReady = undefined;
    const { exitReason, exitCode, out } = await guest.run(`${prepare}\nconsole.log('READY');\n${loop}`);
    expect({ exitReason, exitCode, out }).toEqual({ exitReason: 3, exitCode: 137, out: 'READY\n' });
    const { user, system } = process.cpuUsage(atReady);
    expect((user + system) / 1_000).toBeLessThan(STOPS_WITHIN_CPU_MS);
  });
});
