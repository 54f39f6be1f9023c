// Reports the build's progress on stderr, so that stdout stays free for results. A step prints its
// title and, for long steps, the expected time, so that a user can distinguish slow work from a
// hang.

/** Prints a line on stderr. */
export function say(text) {
  process.stderr.write(`[runner] ${text}\n`);
}

/**
 * Runs `work`. Prints the title at the start, the elapsed time every 10 s, and the duration at the
 * end. `expected` is free text such as "about 80 s".
 */
export async function step(title, expected, work) {
  say(expected ? `${title} (${expected}) ...` : `${title} ...`);
  const begin = performance.now();
  const tick = setInterval(() => say(`${title}: ${Math.round((performance.now() - begin) / 1000)} s`), 10_000);
  try {
    return await work();
  } finally {
    clearInterval(tick);
    say(`${title}: done in ${((performance.now() - begin) / 1000).toFixed(1)} s`);
  }
}
