// Reports the progress of a build on stderr. A step prints a line at its start and its end, and
// every five seconds a line with its last report. Lines keep parallel steps readable in a terminal
// and in a log. stdout belongs to the command that called the build.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateDir } from './paths.mjs';

const HEARTBEAT_MS = 5_000;

// The file with the longest time that each step took in this checkout. The times serve as
// estimates, because a step cannot report how much work is left.
const timesPath = join(stateDir, 'times.json');

function earlierTimes() {
  try {
    return JSON.parse(readFileSync(timesPath, 'utf8'));
  } catch {
    return {};
  }
}

const clock = (seconds) => (seconds < 90 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(1)} min`);

/** Returns the progress of `total` steps. `begin` returns the reporter of one step. */
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
    let report = '';
    let printed = '';
    say(label, `${title} (up to about ${clock(expected)})`);
    const heartbeat = setInterval(() => {
      const line = `${clock(seconds())} of up to ${clock(expected)}${report && report !== printed ? `: ${report}` : ''}`;
      printed = report;
      say(label, line);
    }, HEARTBEAT_MS);
    heartbeat.unref();
    return {
      report: (text) => {
        report = text;
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
