// The contexts of a sandbox: each has a language, a working directory, and a resident runner that
// keeps the state of the executions. The first execution starts the runner.
//
// The table of contexts is a file in the sandbox. So pauses, snapshots and forks of the sandbox
// keep the contexts, and their runners are found by their pids. Next: `execution.ts`.

import { randomUUID } from 'node:crypto';
import { isColdframeError, type ResidentRunner } from 'coldframe';
import { z } from 'zod';
import { DEFAULT_USER, environmentOf } from '../envd/user.js';
import { HOME } from '../sandboxes/base.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { DEFAULT_LANGUAGE, type RunnerLanguage } from './languages.js';

/** A context, as clients see it. */
export interface ContextInfo {
  readonly id: string;
  readonly language: string;
  readonly cwd: string;
}

/** The most contexts of a sandbox. */
const CONTEXTS_MOST = 256;
const FOLDER = '/run/code-interpreter';
const TABLE = `${FOLDER}/contexts.json`;

const Saved = z.array(
  z.object({
    id: z.string().max(100),
    language: z.string().max(100),
    cwd: z.string().max(4_096),
    executions: z.number().int().nonnegative(),
    isDefault: z.boolean(),
    pid: z.number().int().positive().optional(),
  }),
);

/** More contexts than a sandbox can have. */
export class TooManyContexts extends Error {}

/** A context of a running sandbox. */
export class Context implements ContextInfo {
  readonly id: string;
  readonly language: string;
  readonly cwd: string;
  /** Whether executions that name only a language use the context. */
  readonly isDefault: boolean;
  /** The number of executions since the start of the context. */
  executions = 0;
  #runner: Promise<ResidentRunner> | undefined;
  /** The pid of the runner, once the runner has started. */
  pid: number | undefined;

  constructor({ id, language, cwd, isDefault }: ContextInfo & { isDefault: boolean }) {
    this.id = id;
    this.language = language;
    this.cwd = cwd;
    this.isDefault = isDefault;
  }

  /** Returns the runner. `start` starts the runner of a context that has none. */
  async runner(start: () => Promise<ResidentRunner>): Promise<ResidentRunner> {
    if (this.#runner === undefined) {
      const starting = start();
      this.#runner = starting;
      starting.then(
        ({ pid }) => {
          if (this.#runner === starting) this.pid = pid;
        },
        () => this.forget(),
      );
    }
    return this.#runner;
  }

  /** Uses a runner that a snapshot has restored. */
  adopt(runner: ResidentRunner): void {
    this.pid = runner.pid;
    this.#runner = Promise.resolve(runner);
  }

  /** Forgets a runner that has ended. The next execution starts a new runner. */
  forget(): void {
    this.#runner = undefined;
    this.pid = undefined;
  }

  /** Ends the runner. Executions that run or wait end. */
  async end(): Promise<void> {
    const runner = this.#runner;
    this.forget();
    this.executions = 0;
    const live = await runner?.catch(() => undefined);
    await live?.dispose();
  }
}

/** The contexts of one sandbox. */
export class Contexts {
  readonly #sandbox: Sandbox;
  readonly #env: Record<string, string>;
  readonly #all = new Map<string, Context>();
  #saving: Promise<void> = Promise.resolve();

  private constructor(sandbox: Sandbox, env: Record<string, string>) {
    this.#sandbox = sandbox;
    this.#env = env;
  }

  /** Reads the contexts of a sandbox, or makes the contexts that every sandbox has. */
  static async open(sandbox: Sandbox, env: Record<string, string>): Promise<Contexts> {
    const contexts = new Contexts(sandbox, env);
    const saved = await readTable(sandbox);
    if (saved === undefined) {
      for (const language of [DEFAULT_LANGUAGE, 'javascript']) contexts.#add(language, HOME, true);
      return contexts;
    }
    const runners = new Map((await sandbox.runtime.residentRunners()).map((runner) => [runner.pid, runner]));
    for (const { pid, executions, ...info } of saved) {
      const context = new Context(info);
      context.executions = executions;
      const runner = pid === undefined ? undefined : runners.get(pid);
      if (runner !== undefined) context.adopt(runner);
      contexts.#all.set(context.id, context);
    }
    return contexts;
  }

  /** Returns all contexts in the order of their creation. */
  list(): ContextInfo[] {
    return [...this.#all.values()].map(({ id, language, cwd }) => ({ id, language, cwd }));
  }

  find(id: string): Context | undefined {
    return this.#all.get(id);
  }

  /** Creates a context. */
  async create(language: string, cwd: string): Promise<Context> {
    const context = this.#add(language, cwd, false);
    await this.#save();
    return context;
  }

  /** Returns the context of executions that name only a language. */
  async defaultOf(language: string): Promise<Context> {
    const known = [...this.#all.values()].find((context) => context.isDefault && context.language === language);
    return known ?? this.#add(language, HOME, true);
  }

  /** Ends and removes a context. */
  async remove(context: Context): Promise<void> {
    this.#all.delete(context.id);
    await context.end();
    await this.#save();
  }

  /** Returns the runner of a context, which is started if the context has none. */
  async runnerOf(context: Context, { runner: language }: RunnerLanguage): Promise<ResidentRunner> {
    if (context.pid !== undefined) return context.runner(() => this.#start(context, language));
    const runner = await context.runner(() => this.#start(context, language));
    await this.#save();
    return runner;
  }

  #start({ cwd }: Context, language: RunnerLanguage['runner']): Promise<ResidentRunner> {
    const env = { ...environmentOf(DEFAULT_USER), ...this.#env };
    return this.#sandbox.runtime.createResidentRunner({ language, cwd, env });
  }

  #add(language: string, cwd: string, isDefault: boolean): Context {
    if (this.#all.size >= CONTEXTS_MOST) throw new TooManyContexts(`A sandbox has at most ${CONTEXTS_MOST} contexts`);
    const context = new Context({ id: randomUUID(), language, cwd, isDefault });
    this.#all.set(context.id, context);
    return context;
  }

  // Writes the table after earlier writes.
  #save(): Promise<void> {
    const write = async (): Promise<void> => {
      const { runtime } = this.#sandbox;
      const rows = [...this.#all.values()].map(({ id, language, cwd, executions, isDefault, pid }) => ({
        id,
        language,
        cwd,
        executions,
        isDefault,
        pid,
      }));
      await runtime.mkdir(FOLDER, { recursive: true });
      await runtime.writeFile(TABLE, JSON.stringify(rows));
    };
    this.#saving = this.#saving.then(write, write);
    return this.#saving;
  }
}

// Programs in the sandbox can change the file. A file of another form counts as missing.
async function readTable(sandbox: Sandbox): Promise<z.infer<typeof Saved> | undefined> {
  try {
    const bytes = await sandbox.runtime.readFile(TABLE);
    const parsed = Saved.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return parsed.success ? parsed.data.slice(0, CONTEXTS_MOST) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isColdframeError(error)) return undefined;
    throw error;
  }
}

const OPEN = new WeakMap<Sandbox, Promise<Contexts>>();

/** Returns the contexts of a sandbox, which are read at the first call. */
export function contextsOf(sandbox: Sandbox, env: Record<string, string>): Promise<Contexts> {
  const known = OPEN.get(sandbox);
  if (known !== undefined) return known;
  const opening = Contexts.open(sandbox, env);
  OPEN.set(sandbox, opening);
  opening.catch(() => OPEN.delete(sandbox));
  return opening;
}
