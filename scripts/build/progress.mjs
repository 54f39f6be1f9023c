// Tells on stderr what the build is doing: a line when a step starts and ends, and in between a heartbeat with its last news,
// so that several steps at once stay readable, in a terminal and in a log. stdout belongs to the command that asked for the build.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateDir } from './paths.mjs';

const HEARTBEAT_MS = 5_000;

// The longest that each step took here: how much of it there is to do is known only afterwards.
const timesPath = join(stateDir, 'times.json');

function earlierTimes() {
  try {
    return JSON.parse(readFileSync(timesPath, 'utf8'));
  } catch {
    return {};
  }
}

const clock = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`);

/** A progress for `total` steps. `begin` gives a step's own reporter. */
export function createProgress(total, write = (line) => process.stderr.write(`${line}\n`)) {
  const started = performance.now();
  const times = earlierTimes();
  const elapsed = () => clock((performance.now() - started) / 1000).padStart(8);
  const say = (label, text) => write(`[build ${elapsed()}] ${label} ${text}`);
  let begun = 0;

  const begin = ({ name, title, expectedSeconds }) => {
    const stepStarted = performance.now();
    const seconds = () => (performance.now() - stepStarted) / 1000;
    const expected = Math.max(times[name] ?? 0, expectedSeconds);
    const label = `${String(++begun).padStart(String(total).length)}/${total} ${name.padEnd(10)}`;
    let news = '';
    let told = '';
    say(label, `${title} (up to about ${clock(expected)})`);
    const heartbeat = setInterval(() => {
      const line = `${clock(seconds())} of up to ${clock(expected)}${news && news !== told ? `: ${news}` : ''}`;
      told = news;
      say(label, line);
    }, HEARTBEAT_MS);
    heartbeat.unref();
    return {
      report: (text) => {
        news = text;
      },
      done: () => {
        clearInterval(heartbeat);
        times[name] = Math.max(times[name] ?? 0, seconds());
        say(label, `done in ${clock(seconds())}`);
      },
      failed: () => {
        clearInterval(heartbeat);
        say(label, `FAILED after ${clock(seconds())}`);
      },
    };
  };

  const end = () => {
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(timesPath, JSON.stringify(times));
  };

  return { begin, end, note: (text) => write(`[build ${elapsed()}] ${text}`) };
}
