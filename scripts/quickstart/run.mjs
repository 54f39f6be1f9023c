// Runs a program in one mode: once for its output, and a few more times if the first run was quick.
// The table then shows medians, because the first run is slower: the first accesses to memory cause
// faults.

const TIMEOUT_MS = 30_000;
const ROUNDS = 11;
/** The time that all rounds of a program may take together. */
const REPEAT_WITHIN_MS = 200;

export async function runInMode(mode, code) {
  const openedAt = performance.now();
  const shared = await mode.open();
  const openMs = performance.now() - openedAt;
  try {
    const first = await runOnce(mode, shared, code);
    const rounds = [first.timing];
    const total = Object.values(first.timing).reduce((sum, value) => sum + value, 0);
    const wanted = Math.min(ROUNDS, Math.floor(REPEAT_WITHIN_MS / total));
    while (rounds.length < wanted) rounds.push((await runOnce(mode, shared, code)).timing);
    return { name: mode.name, openMs, ...first.outcome, rounds: rounds.length, timing: medians(rounds) };
  } finally {
    await shared.dispose();
  }
}

async function runOnce(mode, shared, code) {
  const start = performance.now();
  const runtime = await mode.create(shared);
  try {
    const created = performance.now();
    const { stdout, stderr, exitCode, error } = await runtime.exec(code, { timeout: TIMEOUT_MS });
    const answered = performance.now();
    await runtime.exec(code, { timeout: TIMEOUT_MS });
    const again = performance.now();
    return {
      outcome: { stdout, stderr, exitCode, error },
      timing: { createMs: created - start, firstMs: answered - created, warmMs: again - answered },
    };
  } finally {
    await runtime.dispose();
  }
}

function medians(rounds) {
  const of = (key) => rounds.map((round) => round[key]).sort((a, b) => a - b)[Math.floor((rounds.length - 1) / 2)];
  return { createMs: of('createMs'), firstMs: of('firstMs'), warmMs: of('warmMs') };
}
