// `coldframe/secure-exec`: the calls of secure-exec 0.3 (the class `NodeRuntime`) and 0.2.21
// (`evaluate`, `execute`, `createVm`) on top of the SDK. This module only exports.
//
// `docs/migrating-from-secure-exec.md` lists the differences.

export { Sidecar, type SidecarSpawnOptions } from '../index.js';
export type { NodeRuntimeCreateOptions } from './class-options.js';
export type { Context } from './context.js';
export { KernelError, SidecarProcessError, SidecarProcessExited, SidecarRejectedError, SidecarSilenceTimeout } from './errors.js';
export type {
  ExecutionOutputOptions,
  InlineExecutionOptions,
  JavaScriptEvaluationOptions,
  JavaScriptExecutionOptions,
  LanguageExecutionOptions,
  LanguageSpawnOptions,
} from './execution-options.js';
export type { HostFunction, HostFunctionCollection, HostFunctionCollections, HostFunctionExample } from './host-functions.js';
export type { NestedLimits } from './limits.js';
export { createHostDirBackend, type HostDirBackend, hostDirMount, type MountConfig, nodeModulesMount } from './mounts.js';
export { NodeRuntime } from './node-runtime.js';
export {
  type EvaluateOptions,
  type ExecuteFileOptions,
  type ExecuteOptions,
  evaluate,
  execute,
  executeFile,
} from './one-shot.js';
export type { Permissions } from './permissions.js';
export type {
  CodeEvaluationResult,
  CodeExecutionResult,
  ExecutionErrorData,
  JsonValue,
  OutputCapture,
} from './results.js';
export { init, shutdown } from './shared-sidecar.js';
export type {
  BindingDefinition,
  HostDirectoryMount,
  HostToolExample,
  NodeModulesMount,
  NodeRuntimeBootTiming,
  NodeRuntimeBootTimingPhase,
  NodeRuntimeExecOptions,
  NodeRuntimeExecResult,
  NodeRuntimeFetchInput,
  NodeRuntimeFetchResponse,
  NodeRuntimeListener,
  NodeRuntimeListenerQuery,
  NodeRuntimeProcess,
  NodeRuntimeResidentRunner,
  NodeRuntimeResidentRunnerExecOptions,
  NodeRuntimeResidentRunnerOptions,
  NodeRuntimeResourceSnapshot,
  NodeRuntimeRunResult,
  NodeRuntimeSpawnOptions,
  NodeRuntimeWaitForListenerOptions,
} from './types.js';
export { createVm, type HttpRequest, type HttpResponse, type Vm } from './vm.js';
export type { BatchReadResult, BatchWriteResult, DirEntry, ReaddirRecursiveOptions } from './vm-filesystem.js';
export type { LimitWarning, VmOptions } from './vm-options.js';
export type { ProcessDescriptor, ProcessExit } from './vm-process.js';
