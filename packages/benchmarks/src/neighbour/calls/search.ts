// Searches for the slowest single call of a family. The random search changes one parameter at a
// time, and keeps the parameters of the slowest call.
//
// The clock runs in the guest around one call. Of several calls with equal parameters the fastest
// counts, so that an interruption by the machine is not a finding.

import { NodeRuntime, type Sidecar } from 'coldframe';
import { PRELUDE } from '../hostile/program.js';
import type { Family } from './families.js';

export interface CallResult {
  name: string;
  tries: number;
  worstMs: number;
  parameters: Record<string, number>;
  /** The program of the slowest call. */
  reproducer: string;
  /** The last error of a call. Most searches also find calls that fail. */
  error: string | undefined;
}

/** Calls with equal parameters, of which the fastest counts. */
const REPETITIONS = 5;
/** Milliseconds that the program of a search may run beyond the search. */
const GRACE_MS = 20_000;

const reproducerOf = ({ prepare = '', call }: Family, parameters: Record<string, number>): string =>
  `const p = ${JSON.stringify(parameters)};\n${prepare}\nconst from = performance.now();\n${call};\nconsole.log(performance.now()
- from);`;

export async function searchCalls(
  sidecar: Sidecar,
  family: Family,
  { searchMs, seed }: { searchMs: number; seed: number },
): Promise<CallResult> {
  const limits = { ...family.options?.limits, cpuMs: searchMs + GRACE_MS };
  const runtime = await NodeRuntime.create({ ...family.options, limits, sidecar });
  try {
    const code = `${PRELUDE}
const ranges = ${JSON.stringify(family.ranges)};
let state = ${seed};
const random = () => { state = (state * 1103515245 + 12345) % 2147483648; return state / 2147483648; };
const pick = ([from, to]) => Math.floor(from + (to - from + 1) * (random() < 0.3 ? Math.round(random()) * 0.999 : random()));
const all = () => Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, pick(range)]));
const near = (p) => { const names = Object.keys(ranges); const name = names[Math.floor(random() * names.length)];
return { ...p, [name]: pick(ranges[name]) }; };
let folder = 0; let error; let tries = 0; let best; let worstMs = -1;
const once = (p) => {
  process.chdir('/workspace');
  const name = 'try' + folder++;
  fs.mkdirSync(name); process.chdir(name);
  const at = process.cwd();
  let ms = 0;
  try {
    ${family.prepare ?? ''}
    const from = process.hrtime.bigint();
    try { ${family.call}; } catch (thrown) { error = String(thrown.code ?? thrown).slice(0, 100); }
    ms = Number(process.hrtime.bigint() - from) / 1e6;
    quietly(() => { ${family.clean ?? ''}; });
  } catch (thrown) { error = 'prepare: ' + String(thrown.code ?? thrown).slice(0, 100); }
  for (const fd of quietly(() => fs.readdirSync('/proc/self/fd')) ?? []) if (fd > 2) quietly(() => fs.closeSync(Number(fd)));
  process.chdir('/workspace'); quietly(() => fs.rmSync(at, { recursive: true, force: true }));
  return ms;
};
const end = performance.now() + ${searchMs};
while (performance.now() < end) {
  const p = best && random() < 0.7 ? near(best) : all();
  let ms = once(p); tries++;
  for (let n = 1; n < ${REPETITIONS} && ms > worstMs; n++) { ms = Math.min(ms, once(p)); await tick(); }
  if (ms > worstMs) { worstMs = ms; best = p; }
  await tick();
}
__return({ tries, worstMs, parameters: best, error });`;
    const { value, stderr, error } = await runtime.run<Omit<CallResult, 'name' | 'reproducer'>>(code, {
      timeout: searchMs + GRACE_MS,
    });
    if (value === undefined) throw new Error(`${error?.code ?? ''} ${stderr.slice(0, 300)}`);
    return { name: family.name, ...value, reproducer: reproducerOf(family, value.parameters) };
  } finally {
    await runtime.dispose();
  }
}
