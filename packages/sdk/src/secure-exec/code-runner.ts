// Runs code in a VM: in a new process, or in a context. `evaluate` wraps an expression in a program
// that returns the value, or the error, as JSON.

import { notSupported } from '../errors/make.js';
import type { NodeRuntime } from '../index.js';
import { checkOptions } from './check.js';
import type { Contexts } from './context.js';
import {
  EXECUTION_OPTIONS,
  type InlineExecutionOptions,
  type JavaScriptExecutionOptions,
  type LanguageExecutionOptions,
  ownExecution,
} from './execution-options.js';
import { globalJson } from './guest-code.js';
import {
  type CodeEvaluationResult,
  type CodeExecutionResult,
  type Evaluated,
  evaluationResult,
  executionResult,
  settle,
} from './results.js';

type Language = 'javascript' | 'typescript';

/** Runs code of one VM. `globals` is code that defines the globals of every program. */
export class CodeRunner {
  readonly #runtime: NodeRuntime;
  readonly #contexts: Contexts;
  readonly #globals: string;

  constructor(runtime: NodeRuntime, contexts: Contexts, globals: string) {
    this.#runtime = runtime;
    this.#contexts = contexts;
    this.#globals = globals;
  }

  async execute(language: Language, source: string, options: JavaScriptExecutionOptions = {}): Promise<CodeExecutionResult> {
    checkOptions('execute()', EXECUTION_OPTIONS, options);
    const code = this.#prelude(options) + source;
    const { contextId, signal, output } = options;
    const run =
      contextId === undefined
        ? this.#runtime.exec(code, { ...ownExecution(options), language })
        : this.#inContext(language, contextId, (context) => context.runner.exec(code, context.optionsOf(options)));
    return executionResult(await settle(run, signal), output?.capture);
  }

  async evaluate<T>(
    language: Language,
    expression: string,
    options: JavaScriptExecutionOptions = {},
  ): Promise<CodeEvaluationResult<T>> {
    checkOptions('evaluate()', EXECUTION_OPTIONS, options);
    const { contextId, signal, output } = options;
    const program = this.#prelude(options) + programOf(expression);
    const run =
      contextId === undefined
        ? this.#runtime.run<Evaluated<T>>(program, { ...ownExecution(options), language })
        : this.#inContext(language, contextId, ({ runner, optionsOf }) => runner.run<Evaluated<T>>(program, optionsOf(options)));
    const result = await settle(run, signal);
    return evaluationResult<T>(result, 'value' in result ? result.value : undefined, output?.capture);
  }

  async executeFile(path: string, options: LanguageExecutionOptions = {}): Promise<CodeExecutionResult> {
    checkOptions('executeFile()', EXECUTION_OPTIONS, options);
    if (options.contextId !== undefined) throw notSupported('executeFile() with `contextId`', 'import the file in the context');
    const run = this.#runtime.execFile(path, ownExecution(options));
    return executionResult(await settle(run, options.signal), options.output?.capture);
  }

  async #inContext<R>(
    language: Language,
    contextId: string,
    run: (context: ReturnType<Contexts['get']>) => Promise<R>,
  ): Promise<R> {
    if (language === 'typescript') throw notSupported('TypeScript in a context', 'remove the types first');
    return run(this.#contexts.get(contextId));
  }

  /** The code in front of a program. */
  #prelude({ inputs }: InlineExecutionOptions): string {
    return this.#globals + (inputs === undefined ? '' : globalJson('inputs', inputs));
  }
}

// Returns a program that returns the value of `expression`, or the error. The variable has a long
// name, because the expression could use a global with a short name.
function programOf(expression: string): string {
  return `try { const coldframeEvaluated = await (${expression}
); if (JSON.stringify(coldframeEvaluated) === undefined) throw new TypeError('the value of the expression is not JSON');
__return({ value: coldframeEvaluated }); } catch (error) {
console.error(error);
const { name = 'Error', message = String(error), code = 'ERR_PROGRAM_EXITED', stack } = Object(error);
__return({ error: { code: String(code), name: String(name), message: String(message), stack: stack && String(stack) } });
}`;
}
