// Reads a Dockerfile of an older client: FROM, RUN, ENV, WORKDIR, USER, CMD and ENTRYPOINT. The
// client keeps the files of COPY and ADD to itself, so these instructions fail.

import type { BuildPlan } from './builder.js';
import type { BuildStep } from './steps.js';

type Effect = (rest: string, plan: { fromImage?: string; steps: BuildStep[]; startCmd?: string }) => void;

const step =
  (type: string): Effect =>
  (rest, { steps }) => {
    steps.push({ type, args: [rest], force: false });
  };
const command: Effect = (rest, plan) => {
  plan.startCmd = rest.startsWith('[') ? listOf(rest).map(quoted).join(' ') : rest;
};

const EFFECTS: Readonly<Record<string, Effect>> = Object.assign(Object.create(null), {
  FROM: ((rest, plan) => {
    plan.fromImage = (rest.split(/\s+/)[0] as string) ?? '';
  }) satisfies Effect,
  RUN: ((rest, { steps }) => {
    steps.push({ type: 'RUN', args: [rest.startsWith('[') ? listOf(rest).map(quoted).join(' ') : rest], force: false });
  }) satisfies Effect,
  WORKDIR: step('WORKDIR'),
  USER: step('USER'),
  ENV: ((rest, { steps }) => {
    steps.push({ type: 'ENV', args: variablesOf(rest), force: false });
  }) satisfies Effect,
  CMD: command,
  ENTRYPOINT: command,
  // Instructions without an effect on the files.
  ARG: () => {},
  EXPOSE: () => {},
  LABEL: () => {},
});

/** Returns the plan of a build. Unknown instructions become steps, which fail with their name. */
export function planOf(dockerfile: string): BuildPlan {
  const plan: { fromImage?: string; steps: BuildStep[]; startCmd?: string } = { steps: [] };
  const lines = dockerfile
    .replace(/\r\n/g, '\n')
    .replace(/^[ \t]*#.*\n?/gm, '')
    .replace(/\\[ \t]*\n/g, ' ')
    .split('\n');
  for (const line of lines) {
    const [, name = '', rest = ''] = /^\s*([A-Za-z]+)\s+(.*?)\s*$/.exec(line) ?? [];
    if (name === '') continue;
    const effect = EFFECTS[name.toUpperCase()] ?? step(name.toUpperCase());
    effect(rest, plan);
  }
  return { ...plan, force: false };
}

function listOf(text: string): string[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list.map(String);
  } catch {
    // The text is a command that begins with a bracket.
  }
  return [text];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

// `ENV A=1 B="two words"`, or `ENV A the rest of the line`.
function variablesOf(rest: string): string[] {
  const [, name, value] = /^([A-Za-z_]\w*)\s+(.*)$/.exec(rest) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  const args: string[] = [];
  for (const [, key, double, single, plain] of rest.matchAll(/([A-Za-z_]\w*)=(?:"([^"]*)"|'([^']*)'|(\S*))/g)) {
    args.push(key as string, double ?? single ?? plain ?? '');
  }
  return args;
}
