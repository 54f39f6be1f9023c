// The functions of secure-exec 0.2.21 that run one program in a VM of its own. Their options are
// the options of the VM and of the execution together.

import { isObject } from '../options/rule.js';
import type { JavaScriptExecutionOptions, LanguageExecutionOptions } from './execution-options.js';
import type { CodeEvaluationResult, CodeExecutionResult, JsonValue } from './results.js';
import { createVm, type Vm } from './vm.js';
import { VM_OPTION_NAMES, type VmOptions } from './vm-options.js';

/** Options of `execute()`. */
export type ExecuteOptions = Omit<JavaScriptExecutionOptions, 'contextId'> & VmOptions;
/** Options of `evaluate()`. */
export type EvaluateOptions = ExecuteOptions;
/** Options of `executeFile()`. */
export type ExecuteFileOptions = Omit<LanguageExecutionOptions, 'contextId'> & VmOptions;

/** Runs an ES module for its effects and its output, in a new VM. */
export function execute(source: string, options?: ExecuteOptions): Promise<CodeExecutionResult> {
  return inVm(options, (vm, own) => vm.javascript.execute(source, own));
}

/**
 * Evaluates one expression in a new VM. Waits for a promise, and returns the value through JSON.
 */
export function evaluate<T = JsonValue>(expression: string, options?: EvaluateOptions): Promise<CodeEvaluationResult<T>> {
  return inVm(options, (vm, own) => vm.javascript.evaluate<T>(expression, own));
}

/** Runs a file of a mount in a new VM. */
export function executeFile(path: string, options?: ExecuteFileOptions): Promise<CodeExecutionResult> {
  return inVm(options, (vm, own) => vm.javascript.executeFile(path, own));
}

async function inVm<R>(options: ExecuteOptions = {}, run: (vm: Vm, own: JavaScriptExecutionOptions) => Promise<R>): Promise<R> {
  const names = isObject(options) ? Object.entries(options) : [];
  const isOfVm = ([name]: [string, unknown]): boolean => VM_OPTION_NAMES.has(name);
  const vm = await createVm(isObject(options) ? Object.fromEntries(names.filter(isOfVm)) : options);
  try {
    return await run(vm, Object.fromEntries(names.filter((entry) => !isOfVm(entry))));
  } finally {
    await vm.dispose();
  }
}
