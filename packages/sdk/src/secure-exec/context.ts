// Contexts: JavaScript state of a VM that stays between calls. A context is a resident runner.

import { randomUUID } from 'node:crypto';
import { asyncDispose } from '../async-dispose.js';
import { invalidOption } from '../errors/make.js';
import type { NodeRuntime, ResidentExecOptions, ResidentRunner } from '../index.js';
import { show } from '../options/show.js';
import type { CodeRunner } from './code-runner.js';
import type { JavaScriptEvaluationOptions, JavaScriptExecutionOptions } from './execution-options.js';
import type { CodeEvaluationResult, CodeExecutionResult, JsonValue } from './results.js';

/** State of JavaScript that stays between calls. Calls wait for each other. */
export interface Context extends AsyncDisposable {
  readonly contextId: string;
  execute(source: string, options?: Omit<JavaScriptExecutionOptions, 'contextId'>): Promise<CodeExecutionResult>;
  evaluate<T = JsonValue>(
    expression: string,
    options?: Omit<JavaScriptEvaluationOptions, 'contextId'>,
  ): Promise<CodeEvaluationResult<T>>;
  /** Removes the state and keeps the context. */
  reset(): Promise<void>;
  /** Ends the context. The VM continues. */
  dispose(): Promise<void>;
}

/** The contexts of one VM by id. */
export class Contexts {
  readonly #runtime: NodeRuntime;
  readonly #states = new Map<string, ContextState>();

  constructor(runtime: NodeRuntime) {
    this.#runtime = runtime;
  }

  /** Creates a context. `code` runs the code of its calls. */
  async create(code: CodeRunner): Promise<Context> {
    const contextId = randomUUID();
    await this.#start(contextId);
    const dispose = (): Promise<void> => this.#end(contextId);
    return {
      contextId,
      execute: (source, options) => code.execute('javascript', source, { ...options, contextId }),
      evaluate: (expression, options) => code.evaluate('javascript', expression, { ...options, contextId }),
      reset: async () => {
        this.get(contextId);
        await this.#end(contextId);
        await this.#start(contextId);
      },
      dispose,
      [asyncDispose]: dispose,
    };
  }

  /** Returns the state of a context. */
  get(contextId: string): ContextState {
    const state = this.#states.get(contextId);
    if (state !== undefined) return state;
    const facts = { option: 'contextId', expected: 'the id of a context of this VM', received: show(contextId) };
    throw invalidOption('execute() or evaluate()', facts);
  }

  async #start(contextId: string): Promise<void> {
    this.#states.set(contextId, new ContextState(await this.#runtime.createResidentRunner()));
  }

  async #end(contextId: string): Promise<void> {
    const state = this.#states.get(contextId);
    this.#states.delete(contextId);
    await state?.runner.dispose();
  }
}

/** The process of a context. */
class ContextState {
  readonly runner: ResidentRunner;

  constructor(runner: ResidentRunner) {
    this.runner = runner;
  }

  /** Converts options. The SDK refuses options that an evaluation in a process cannot have. */
  optionsOf(options: JavaScriptExecutionOptions): ResidentExecOptions {
    const { timeoutMs, contextId, output, inputs, format, ...own } = options;
    return { ...own, timeout: timeoutMs } as ResidentExecOptions;
  }
}
