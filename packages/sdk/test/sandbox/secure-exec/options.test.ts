// Tests that wrong options of `coldframe/secure-exec` fail with the option's name, before a sidecar
// is spawned or a VM is created.

import { afterAll, expect, test } from 'vitest';
import { createVm, evaluate, execute, NodeRuntime, shutdown } from '../../../src/secure-exec/index.js';

afterAll(shutdown);

type Create = Parameters<typeof NodeRuntime.create>[0];
type Vm = Parameters<typeof createVm>[0];
type Evaluate = Parameters<typeof evaluate>[1];

test.each([
  ['commandsDir', { commandsDir: '/commands' }],
  ['loopbackExemptPorts', { loopbackExemptPorts: [80] }],
  ['limits.resources.maxThings', { limits: { resources: { maxThings: 1 } } }],
  ['limits.resources.maxOpenFds', { limits: { resources: { maxOpenFds: 2 } } }],
  ['limits.memoryBytes', { limits: { memoryBytes: 1 } }],
  ['tools', { tools: {}, bindings: {} }],
  ['permissions.tool', { permissions: { tool: 'allow', binding: 'deny' } }],
  ['permissions.network', { permissions: { network: 'maybe' } }],
  ['permissions.disk', { permissions: { disk: 'allow' } }],
  ['permissions', { permissions: 'deny' }],
  ['mounts', { mounts: {} }],
  ['mounts.0.guestPath', { mounts: [{ guestPath: 'a', hostPath: '.' }] }],
  ['nodeModules', { nodeModules: 5 }],
  ['env', { env: null }],
  ['snapshot', { snapshot: 'a' }],
  ['options', null],
])('NodeRuntime.create() refuses a wrong `%s`', async (option, options) => {
  await expect(NodeRuntime.create(options as Create)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option });
});

test.each([
  ['software', { software: [] }],
  ['user', { user: {} }],
  ['sidecar.kind', { sidecar: { kind: 'other' } }],
  ['mounts.0.driver', { mounts: [{ path: '/a', driver: {} }] }],
  ['mounts.0.plugin.id', { mounts: [{ path: '/a', plugin: { id: 's3', config: { hostPath: '.' } } }] }],
  ['hostFunctions.math.add.execute', { hostFunctions: { math: { add: { inputSchema: {} } } } }],
  ['hostFunctions.a-b', { hostFunctions: { 'a-b': {} } }],
  ['limits.wasm', { limits: { wasm: {} } }],
  ['timeoutMs', { timeoutMs: 5 }],
  ['options', 'text'],
])('createVm() refuses a wrong `%s`', async (option, options) => {
  await expect(createVm(options as Vm)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option });
});

test.each([
  ['timeoutMs', { timeoutMs: 0 }],
  ['timeout', { timeout: 5 }],
  ['format', { format: 'commonjs' }],
  ['filePath', { filePath: '/a' }],
  ['pty', { pty: {} }],
  ['output.capture', { output: { capture: 'stdout' } }],
  ['inputs', { inputs: [1] }],
  ['contextId', { contextId: 'none' }],
  ['signal', { signal: {} }],
  ['loopbackExemptPorts', { loopbackExemptPorts: [80] }],
])('evaluate() and execute() refuse a wrong `%s`', async (option, options) => {
  await expect(evaluate('1', options as Evaluate)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option });
  await expect(execute('1', options as Evaluate)).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option });
});

test('each call that has no equivalent fails with `ERR_NOT_SUPPORTED`', async () => {
  const vm = await createVm();
  try {
    const context = await vm.createContext();
    const calls = [
      vm.npm.install(),
      vm.npm.runScript('a'),
      vm.npm.runPackage('a'),
      vm.typescript.check('1'),
      vm.typescript.checkProject(),
      vm.typescript.evaluate('1', { contextId: context.contextId }),
      vm.javascript.executeFile('/a', { contextId: context.contextId }),
      vm.filesystem.export(),
      vm.filesystem.mount(),
      vm.filesystem.unmount(),
      vm.filesystem.listMounts(),
      vm.process.resizePty(),
      vm.process.readOutput(),
    ];
    const failed = await Promise.allSettled(calls);
    for (const result of failed) expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ERR_NOT_SUPPORTED' } });
    expect(failed.map((result) => (result as PromiseRejectedResult).reason.instead === '')).not.toContain(true);
  } finally {
    await vm.dispose();
  }
});

test('an option of a program that a context cannot have is refused', async () => {
  const vm = await createVm();
  try {
    const context = await vm.createContext();
    await expect(context.execute('1', { stdin: '' })).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', option: 'stdin' });
  } finally {
    await vm.dispose();
  }
});
