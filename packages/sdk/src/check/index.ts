// Checks the syntax and the types of code before the code runs, with the app's own TypeScript.
//
// The compiler reads the code and does not run the code. Hostile code can make the compiler compute
// for minutes. Therefore the compiler runs in a worker thread with a limit of memory, and the
// thread is ended after the timeout. Next: worker.ts.

import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { appPackageNotFound, checkFailed, notSupported } from '../errors/make.js';
import { checkArgument, checkOptions } from '../options/check.js';
import type { CheckOptions } from '../options/check-code.js';
import { PROGRAM } from '../options/programs.js';
import type { CheckTask, Diagnostic } from './task.js';

export type { CheckOptions } from '../options/check-code.js';
export type { Diagnostic } from './task.js';

const DEFAULT_TIMEOUT_MS = 30_000;
/** The largest heap of the compiler in MiB. A check with the types of Node needs about 150 MiB. */
const HEAP_MIB = 512;
/** The first release of TypeScript without the compiler's JavaScript interface. */
const NATIVE_TYPESCRIPT = 7;

/** The result of a check. */
export interface CheckResult {
  /** Whether there is no diagnostic. */
  ok: boolean;
  /** The mistakes, in the order of their positions. */
  diagnostics: Diagnostic[];
}

/**
 * Checks `code`, an ES module for a sandbox, and does not run the code. Needs the package
 * `typescript`, release 5 or 6, and for types the package `@types/node`, among the packages of the
 * app.
 *
 * @throws `ERR_PACKAGE_NOT_FOUND`, `ERR_NOT_SUPPORTED` (another release of TypeScript),
 * `ERR_CHECK_FAILED` (the timeout, or the memory of the compiler), `ERR_INVALID_OPTION`
 * @example
 * const { ok, diagnostics } = await check('const n: number = "text";');
 */
export async function check(code: string, options: CheckOptions = {}): Promise<CheckResult> {
  checkOptions('check()', options);
  checkArgument('check()', 'code', PROGRAM, code);
  const { language = 'typescript', types = true, timeout = DEFAULT_TIMEOUT_MS } = options;
  const from = fileOf(options.from);
  const typescript = resolved(from, 'typescript', `typescript@${NATIVE_TYPESCRIPT - 1}`);
  assertSupported(createRequire(from)('typescript/package.json'));
  const nodeTypes = types ? resolved(from, '@types/node/package.json') : undefined;
  const diagnostics = await run({ code, language, typescript, nodeTypes }, timeout);
  return { ok: diagnostics.length === 0, diagnostics };
}

function fileOf(from: string | URL | undefined): string {
  if (from instanceof URL || from?.startsWith('file:')) return fileURLToPath(from);
  return resolve(from ?? process.argv[1] ?? 'app.js');
}

function resolved(from: string, specifier: string, wanted?: string): string {
  const require = createRequire(from);
  try {
    return require.resolve(specifier);
  } catch {
    const name = specifier.replace(/\/package\.json$/, '');
    throw appPackageNotFound(name, require.resolve.paths(specifier) ?? [], wanted);
  }
}

function assertSupported({ version }: { version: string }): void {
  const [major = ''] = version.split('.');
  if (Number(major) < NATIVE_TYPESCRIPT) return;
  throw notSupported(`check() with typescript ${version}`, 'install typescript 5 or 6 in the app');
}

async function run(task: CheckTask, timeoutMs: number): Promise<Diagnostic[]> {
  const worker = new Worker(new URL('./check-worker.js', import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    // The compiler needs no variables, and must not see the app's secrets.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((done, reject) => {
      timer = setTimeout(() => reject(checkFailed(`the check took longer than ${timeoutMs} ms`)), timeoutMs);
      worker.once('message', done);
      worker.once('error', (error) => reject(checkFailed(error.message, error)));
      worker.once('exit', (exitCode) => reject(checkFailed(`the compiler ended with exit code ${exitCode}`)));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
