// Uses the types of `coldframe/secure-exec` as an app of secure-exec does. Each line below a
// directive `@ts-expect-error` must not compile.

import type { NodeRuntime as OwnRuntime } from 'coldframe';
import {
  type BindingDefinition,
  type CodeEvaluationResult,
  type CodeExecutionResult,
  type Context,
  createHostDirBackend,
  createVm,
  evaluate,
  execute,
  executeFile,
  type HostDirectoryMount,
  type HostToolExample,
  hostDirMount,
  init,
  type JsonValue,
  KernelError,
  type NodeModulesMount,
  NodeRuntime,
  type NodeRuntimeBootTiming,
  type NodeRuntimeBootTimingPhase,
  type NodeRuntimeCreateOptions,
  type NodeRuntimeExecOptions,
  type NodeRuntimeExecResult,
  type NodeRuntimeFetchInput,
  type NodeRuntimeFetchResponse,
  type NodeRuntimeListener,
  type NodeRuntimeListenerQuery,
  type NodeRuntimeProcess,
  type NodeRuntimeResidentRunner,
  type NodeRuntimeResidentRunnerExecOptions,
  type NodeRuntimeResidentRunnerOptions,
  type NodeRuntimeRunResult,
  type NodeRuntimeSpawnOptions,
  type NodeRuntimeWaitForListenerOptions,
  nodeModulesMount,
  Sidecar,
  SidecarProcessExited,
  type SidecarSpawnOptions,
  shutdown,
  type Vm,
  type VmOptions,
} from 'coldframe/secure-exec';
import * as z from 'zod';

function use(..._values: unknown[]): void {}

export async function classApi(): Promise<void> {
  const spawnOptions: SidecarSpawnOptions = {};
  const sidecar: Sidecar = await Sidecar.spawn(spawnOptions);
  const mount: HostDirectoryMount = { guestPath: '/a', hostPath: '.', readOnly: true };
  const modules: NodeModulesMount = { hostPath: 'node_modules', guestPath: '/tmp/node_modules' };
  const example: HostToolExample = { description: 'text', input: 1 };
  const binding: BindingDefinition = {
    description: 'text',
    inputSchema: { type: 'object' },
    handler: ({ a }) => a,
    timeoutMs: 1,
    examples: [example],
    commandAliases: ['a'],
  };
  const options: NodeRuntimeCreateOptions = {
    env: {},
    cwd: '/workspace',
    permissions: { network: 'allow', fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/a'] }] }, tool: 'allow' },
    files: { '/a': 'text', '/b': new Uint8Array() },
    mounts: [mount],
    nodeModules: modules,
    tools: { binding },
    sidecar,
    limits: { resources: { maxProcesses: 1 }, jsRuntime: { v8HeapLimitMb: 64 }, http: { maxFetchResponseBytes: 1 } },
    onBootTiming: ({ phase, durationMs }: NodeRuntimeBootTiming) => use(phase satisfies NodeRuntimeBootTimingPhase, durationMs),
  };
  const runtime: NodeRuntime = await NodeRuntime.create(options);
  const own: OwnRuntime = runtime.coldframe;
  const exec: NodeRuntimeExecOptions = { env: {}, cwd: '/', stdin: 'text', timeout: 1, signal: AbortSignal.timeout(1) };
  const result: NodeRuntimeExecResult = await runtime.exec('1', { ...exec, onStdout: (chunk) => chunk.length });
  const { value }: NodeRuntimeRunResult<number> = await runtime.run<number>('__return(1)');
  const spawn: NodeRuntimeSpawnOptions = exec;
  const child: NodeRuntimeProcess = await runtime.spawn('1', spawn);
  const command: NodeRuntimeProcess = runtime.spawnCommand('sh', ['-c', 'true']);
  child.writeStdin('text');
  child.closeStdin();
  child.kill('SIGKILL');
  const code: number | null = child.exitCode;
  const input: NodeRuntimeFetchInput = { path: '/', method: 'GET', headers: {}, body: 'text' };
  const response: NodeRuntimeFetchResponse = await runtime.fetch(3000, input);
  const type: string | undefined = response.headers['content-type'];
  const query: NodeRuntimeListenerQuery = { port: 3000 };
  const wait: NodeRuntimeWaitForListenerOptions = { timeoutMs: 1, pollIntervalMs: 1 };
  const listener: NodeRuntimeListener = await runtime.waitForListener(query, wait);
  const found: NodeRuntimeListener | null = await runtime.findListener(query);
  // @ts-expect-error the listener is known later
  use(runtime.findListener(query)?.processId);
  const runnerOptions: NodeRuntimeResidentRunnerOptions = {};
  const runner: NodeRuntimeResidentRunner = await runtime.createResidentRunner(runnerOptions);
  const evaluation: NodeRuntimeResidentRunnerExecOptions = { timeout: 1 };
  await runner.exec('1', evaluation);
  await runtime.registerBindings({ binding });
  // @ts-expect-error commands are parts of the package
  await NodeRuntime.create({ commandsDir: '/commands' });
  // @ts-expect-error an unknown option
  await runtime.exec('1', { timeoutMs: 1 });
  use(own, result, value, command, code, type, listener, found);
  await runtime.dispose();
}

export async function functions(): Promise<void> {
  await init();
  const options: VmOptions = {
    permissions: { hostFunction: 'allow' },
    limits: { resources: { maxOpenFds: 16 } },
    mounts: [hostDirMount('/a', '.', { readOnly: false }), nodeModulesMount('node_modules')],
    hostFunctions: {
      math: { add: { inputSchema: z.object({ a: z.number() }), execute: ({ a }: { a: number }) => a, timeout: 1 } },
    },
    onLimitWarning: ({ limit, fillPercent }) => use(limit, fillPercent),
    defaultSoftware: false,
  };
  const sum: CodeEvaluationResult<number> = await evaluate<number>('1 + 2', { ...options, inputs: { a: [1] }, timeoutMs: 5 });
  if (sum.outcome === 'succeeded') use(sum.value.toFixed());
  else use(sum.error.message.length);
  const json: JsonValue | undefined = (await evaluate('1')).value;
  const run: CodeExecutionResult = await execute('1', { output: { capture: 'all' }, signal: AbortSignal.timeout(1) });
  await executeFile('/a/main.mjs', { args: ['a'], ...options });
  const vm: Vm = await createVm({ ...options, sidecar: { kind: 'explicit', handle: await Sidecar.spawn() } });
  const context: Context = await vm.createContext();
  await context.execute('1', { inputs: {} });
  const typed: CodeEvaluationResult<string> = await vm.typescript.evaluate<string>('"a" as string', { env: {} });
  const { pid } = await vm.javascript.spawn('1', { onStdout: (chunk: Uint8Array) => chunk.length });
  const { body } = await vm.network.httpRequest({ port: 3000, path: '/' });
  await vm.process.kill(pid);
  const bytes: Uint8Array = await vm.filesystem.readFile('/a');
  // @ts-expect-error code is a module
  await execute('1', { format: 'commonjs' });
  // @ts-expect-error a context is no option of a new VM
  await evaluate('1', { contextId: 'a' });
  use(json, run.exitCode, typed, body.length, bytes, createHostDirBackend({ hostPath: '.' }).id);
  await vm.dispose();
  await shutdown();
}

export function caught(error: unknown): string | undefined {
  if (error instanceof SidecarProcessExited) return `${error.exitCode} ${error.signal} ${error.stderr}`;
  return error instanceof KernelError ? error.code : undefined;
}
