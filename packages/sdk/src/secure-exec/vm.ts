// The VM of secure-exec 0.2.21: a runtime of the SDK, with its calls in namespaces.

import { asyncDispose } from '../async-dispose.js';
import { notSupported } from '../errors/make.js';
import { NodeRuntime, type Sidecar } from '../index.js';
import { checkOptions } from './check.js';
import { CodeRunner } from './code-runner.js';
import { type Context, Contexts } from './context.js';
import {
  EXECUTION_OPTIONS,
  type JavaScriptEvaluationOptions,
  type JavaScriptExecutionOptions,
  type LanguageExecutionOptions,
  type LanguageSpawnOptions,
  ownExecution,
} from './execution-options.js';
import { joinHeaders } from './headers.js';
import { commandsOf, globalsOf } from './host-functions.js';
import type { CodeEvaluationResult, CodeExecutionResult, JsonValue } from './results.js';
import { withSharedSidecar } from './shared-sidecar.js';
import { VmFilesystem } from './vm-filesystem.js';
import { checkVmOptions, ownVmOptions, type VmOptions } from './vm-options.js';
import { type ProcessDescriptor, VmProcess } from './vm-process.js';

/** The permission bits of the commands of host functions. */
const EXECUTABLE = 0o755;

/** Calls that run code of one language. */
export interface LanguageCalls {
  execute(source: string, options?: JavaScriptExecutionOptions): Promise<CodeExecutionResult>;
  evaluate<T = JsonValue>(expression: string, options?: JavaScriptEvaluationOptions): Promise<CodeEvaluationResult<T>>;
  executeFile(path: string, options?: LanguageExecutionOptions): Promise<CodeExecutionResult>;
  spawn(source: string, options?: LanguageSpawnOptions): Promise<ProcessDescriptor>;
  spawnFile(path: string, options?: LanguageSpawnOptions): Promise<ProcessDescriptor>;
}

/** Calls that run TypeScript. Types are removed and not checked. */
export interface TypeScriptCalls extends LanguageCalls {
  /** Rejects with `ERR_NOT_SUPPORTED`. */
  check(source: string, options?: object): Promise<never>;
  /** Rejects with `ERR_NOT_SUPPORTED`. */
  checkProject(options?: object): Promise<never>;
}

/** Calls of npm, which reject with `ERR_NOT_SUPPORTED`. */
export interface NpmCalls {
  install(packages?: string | readonly string[] | object, options?: object): Promise<never>;
  runScript(script: string, options?: object): Promise<never>;
  runPackage(packageSpec: string, options?: object): Promise<never>;
}

/** A request to a server in the VM. */
export interface HttpRequest {
  port: number;
  path: string;
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
}

/** A response of a server in the VM. */
export interface HttpResponse {
  status: number;
  statusText: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** A VM that lives until it is disposed. */
export interface Vm extends AsyncDisposable {
  readonly javascript: LanguageCalls;
  readonly typescript: TypeScriptCalls;
  readonly npm: NpmCalls;
  readonly filesystem: VmFilesystem;
  readonly network: { httpRequest(request: HttpRequest): Promise<HttpResponse> };
  readonly process: VmProcess;
  /** The runtime of the SDK, for snapshots, clones and all other calls of `coldframe`. */
  readonly coldframe: NodeRuntime;
  createContext(): Promise<Context>;
  dispose(): Promise<void>;
}

/** Creates a VM in the shared sidecar, or in the sidecar of the options. */
export async function createVm(options: VmOptions = {}): Promise<Vm> {
  const call = 'createVm()';
  checkVmOptions(call, options);
  const { hostFunctions = {}, sidecar } = options;
  const create = (host: Sidecar): Promise<NodeRuntime> => NodeRuntime.create(ownVmOptions(call, options, host));
  const runtime = await (sidecar?.kind === 'explicit' ? create(sidecar.handle) : withSharedSidecar(create));
  try {
    for (const [path, script] of commandsOf(hostFunctions)) await runtime.writeFile(path, script, { mode: EXECUTABLE });
  } catch (error) {
    await runtime.dispose();
    throw error;
  }
  return vmOf(runtime, globalsOf(hostFunctions));
}

function vmOf(runtime: NodeRuntime, globals: string): Vm {
  const contexts = new Contexts(runtime);
  const code = new CodeRunner(runtime, contexts, globals);
  const process = new VmProcess(runtime);
  const dispose = (): Promise<void> => runtime.dispose();

  const callsOf = (language: 'javascript' | 'typescript'): LanguageCalls => ({
    execute: (source, options) => code.execute(language, source, options),
    evaluate: (expression, options) => code.evaluate(language, expression, options),
    executeFile: (path, options) => code.executeFile(path, options),
    async spawn(source, options = {}) {
      checkOptions('spawn()', EXECUTION_OPTIONS, options);
      return process.keep(await runtime.spawn(globals + source, { ...ownExecution(options), language }), 'node');
    },
    spawnFile: (path, options) => process.spawn('node', [path], options),
  });
  const check = (call: string) => async (): Promise<never> => {
    throw notSupported(`typescript.${call}`, 'run the TypeScript compiler in the app');
  };
  const npm = (call: string) => async (): Promise<never> => {
    throw notSupported(
      `npm.${call}`,
      'programs of this module reach no other machine; install in the app, and use `nodeModulesMount()`',
    );
  };
  return {
    javascript: callsOf('javascript'),
    typescript: { ...callsOf('typescript'), check: check('check()'), checkProject: check('checkProject()') },
    npm: { install: npm('install()'), runScript: npm('runScript()'), runPackage: npm('runPackage()') },
    filesystem: new VmFilesystem(runtime),
    network: { httpRequest: (request) => httpRequest(runtime, request) },
    process,
    coldframe: runtime,
    createContext: () => contexts.create(code),
    dispose,
    [asyncDispose]: dispose,
  };
}

async function httpRequest(runtime: NodeRuntime, { port, ...request }: HttpRequest): Promise<HttpResponse> {
  const { status, statusText, headers, bodyBytes } = await runtime.fetch(port, request);
  return { status, statusText, headers: joinHeaders(headers), body: bodyBytes };
}
