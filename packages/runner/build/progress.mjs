// Progress of the build, on stderr, so that stdout stays free for results. A step says what it does and, when it takes longer than a
// moment, how long that is expected to last: whoever waits must be able to tell work from a hang.

/** One line on stderr. */
export function say(text) {
  process.stderr.write(`[runner] ${text}\n`);
}

/** Runs `work`, saying when it began and how long it took. `expected` is free text such as "about 80 s". */
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
