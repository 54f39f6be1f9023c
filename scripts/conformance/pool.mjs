// Runs many short jobs, a few at a time, and reports the progress on stderr. In a terminal the
// progress is one rewritten line, elsewhere a line every few seconds.

const EVERY_MS = 5_000;
const REDRAW_MS = 200;

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.round(seconds % 60)).padStart(2, '0')}`;

/**
 * Calls `work(item)` for all items, `jobs` at a time. The progress line ends with the text of
 * `describe()`.
 */
export async function runAll(title, items, jobs, work, describe = () => '') {
  const started = performance.now();
  const progress = createProgress(title, items.length, started, describe);
  let next = 0;
  let done = 0;
  const worker = async () => {
    while (next < items.length) {
      await work(items[next++]);
      progress(++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker));
}

function createProgress(title, total, started, describe) {
  const { isTTY } = process.stderr;
  let told = performance.now();
  return (done) => {
    const now = performance.now();
    if (done < total && now - told < (isTTY ? REDRAW_MS : EVERY_MS)) return;
    told = now;
    const elapsed = (now - started) / 1000;
    const left = (elapsed / done) * (total - done);
    const line = `[${title} ${clock(elapsed)}] ${done}/${total}${describe()}${done < total ? `, about ${clock(left)} left` : ''}`;
    process.stderr.write(isTTY ? `\r\x1b[K${line}${done === total ? '\n' : ''}` : `${line}\n`);
  };
}
