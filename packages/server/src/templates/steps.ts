// The steps of a build, as clients send them, and their effects on the build's runtime.

import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { type BuildBox, type OnLine, StepError } from './build-box.js';

/** A step of a build. */
export interface BuildStep {
  type: string;
  args: readonly string[];
  /** The client's digest of the files that the step copies. */
  filesHash?: string | undefined;
  /** Whether the step runs although its result is kept. */
  force: boolean;
}

/** The surroundings of a step. */
export interface StepContext {
  onLine: OnLine;
  signal: AbortSignal;
  /** Opens the archive of uploaded files with a client's digest. */
  archive(filesHash: string): Readable;
}

/** Returns the digest of a step and all steps before it. */
export function stepKey(before: string, { type, args, filesHash }: BuildStep): string {
  return createHash('sha256')
    .update(JSON.stringify([before, type, args, filesHash ?? null]))
    .digest('hex');
}

/** Returns the text of a step for logs. */
export const titleOf = ({ type, args }: BuildStep): string =>
  `${type} ${type === 'ENV' ? envTitle(args) : args.filter((arg) => arg !== '').join(' ')}`;

/** Returns whether a step changes files, so that its result is worth keeping. */
export const changesFiles = ({ type }: BuildStep): boolean => type === 'RUN' || type === 'COPY' || type === 'WORKDIR';

/** Performs a step, or only its effect on the settings if the files are there already. */
export async function perform(box: BuildBox, step: BuildStep, context: StepContext, hasFiles: boolean): Promise<void> {
  const { type, args } = step;
  const [first = '', second] = args;
  switch (type) {
    case 'RUN':
      if (!hasFiles) await box.run(first, second === '' ? undefined : second, context.onLine, context.signal);
      return;
    case 'COPY':
      if (!hasFiles) await copy(box, step, context);
      return;
    case 'WORKDIR':
      if (hasFiles) box.settings.workdir = box.resolve(first);
      else await box.setWorkdir(first);
      return;
    case 'ENV':
      for (let at = 0; at + 1 < args.length; at += 2) setVariable(box.settings.env, args[at] as string, args[at + 1] as string);
      return;
    case 'USER':
      box.settings.user = first;
      return;
    default:
      throw new StepError(`the step ${type} is not available: use COPY, RUN, ENV, WORKDIR or USER`);
  }
}

async function copy(box: BuildBox, { args, filesHash }: BuildStep, { archive }: StepContext): Promise<void> {
  const [source = '', target = '.', user = '', mode = ''] = args;
  if (filesHash === undefined) throw new StepError(`failed to copy '${source}': the step has no filesHash`);
  if (mode !== '' && !/^[0-7]{1,4}$/.test(mode))
    throw new StepError(`failed to copy '${source}': the mode '${mode}' is not octal`);
  const bits = mode === '' ? undefined : Number.parseInt(mode, 8);
  await box.copy(archive(filesHash), { source, target, user: user === '' ? undefined : user, mode: bits });
}

function setVariable(env: Record<string, string>, name: string, value: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0')) throw new StepError(`'${name}' is no name of a variable`);
  // A reference to an earlier variable of the build is replaced, as Docker does.
  env[name] = value.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (text, braced?: string, plain?: string) => {
    const known = env[(braced ?? plain) as string];
    return known ?? text;
  });
}

function envTitle(args: readonly string[]): string {
  const names: string[] = [];
  for (let at = 0; at < args.length; at += 2) names.push(args[at] as string);
  return names.join(' ');
}
