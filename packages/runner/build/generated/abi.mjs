// Generated from packages/sidecar/crates/abi by `pnpm generate`. Do not edit.
// The numbers of events, modes and blocks for the dev host (docs/internals/guest-abi.md).

export const EVENT = { start: 1, timer: 2, complete: 3, eval: 4, restore: 5, abandon: 6 };

export const MODE = { exec: 0, run: 1, resident: 2, file: 3 };

export const CLOCK = { wall: 0, monotonic: 1 };

export const INFO_BLOCK = {
  length: 24,
  fields: {
    abiVersion: { offset: 0, kind: 'u32' },
    statePtr: { offset: 4, kind: 'u32' },
    inboxPtr: { offset: 8, kind: 'u32' },
    inboxLen: { offset: 12, kind: 'u32' },
    frozenEnd: { offset: 16, kind: 'u32' },
    stackSize: { offset: 20, kind: 'u32' },
  },
};

export const STATE_BLOCK = {
  length: 48,
  fields: {
    status: { offset: 0, kind: 'u32' },
    exitCode: { offset: 4, kind: 'i32' },
    timerAt: { offset: 8, kind: 'f64' },
    exitReason: { offset: 16, kind: 'u32' },
    valuePtr: { offset: 20, kind: 'u32' },
    valueLen: { offset: 24, kind: 'u32' },
    evalDone: { offset: 28, kind: 'u32' },
    evalExitCode: { offset: 32, kind: 'i32' },
    evalReason: { offset: 36, kind: 'u32' },
    keepAlive: { offset: 40, kind: 'u32' },
    reserved: { offset: 44, kind: 'u32' },
  },
};
