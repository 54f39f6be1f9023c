// Peers inside the app's process: worker threads, `node:vm`, isolated-vm, and QuickJS in
// WebAssembly. The packages are not dependencies of the benchmarks, so the types that the adapters
// use are declared here.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { AdapterFiles, OpenAdapter } from '../adapter.js';

const requireFrom = ({ installed }: AdapterFiles) => createRequire(join(installed, 'package.json'));

const importFrom = async (files: AdapterFiles, name: string): Promise<unknown> =>
  import(pathToFileURL(requireFrom(files).resolve(name)).href);

const WORKER_SOURCE = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', (expression) => parentPort.postMessage(String((0, eval)(expression))));`;

export const openWorkerThread: OpenAdapter = async () => ({
  start: async () => {
    const worker = new Worker(WORKER_SOURCE, { eval: true });
    return {
      evaluate: async (expression) => {
        worker.postMessage(expression);
        const [value] = (await once(worker, 'message')) as [string];
        return value;
      },
      dispose: async () => void (await worker.terminate()),
    };
  },
});

export const openVm: OpenAdapter = async () => ({
  start: async () => {
    const context = createContext({});
    return { evaluate: async (expression) => String(runInContext(expression, context)), dispose: async () => {} };
  },
});

interface IsolatedVm {
  Isolate: new (options: {
    memoryLimit: number;
  }) => {
    createContext(): Promise<{ eval(code: string): Promise<unknown> }>;
    dispose(): void;
  };
}

export const openIsolatedVm: OpenAdapter = async (files) => {
  const { Isolate } = requireFrom(files)('isolated-vm') as IsolatedVm;
  return {
    start: async () => {
      const isolate = new Isolate({ memoryLimit: 128 });
      const context = await isolate.createContext();
      return {
        evaluate: async (expression) => String(await context.eval(expression)),
        dispose: async () => isolate.dispose(),
      };
    },
  };
};

interface Handle {
  dispose(): void;
}

interface EmscriptenContext extends Handle {
  evalCode(code: string): object;
  unwrapResult(result: object): Handle;
  dump(handle: Handle): unknown;
}

interface EmscriptenModule {
  newContext(): EmscriptenContext;
}

interface Emscripten {
  getQuickJS(): Promise<EmscriptenModule>;
  newQuickJSWASMModule(): Promise<EmscriptenModule>;
}

const openEmscripten =
  (moduleFor: (library: Emscripten) => () => Promise<EmscriptenModule>): OpenAdapter =>
  async (files) => {
    const module = moduleFor(requireFrom(files)('quickjs-emscripten') as Emscripten);
    return {
      start: async () => {
        const context = (await module()).newContext();
        return {
          evaluate: async (expression) => {
            const handle = context.unwrapResult(context.evalCode(expression));
            const value = String(context.dump(handle));
            handle.dispose();
            return value;
          },
          dispose: async () => context.dispose(),
        };
      },
    };
  };

/** A context in one module, whose memory all contexts share. */
export const openEmscriptenContext = openEmscripten(({ getQuickJS }) => getQuickJS);
/** A module, with its own memory, for each instance. */
export const openEmscriptenModule = openEmscripten(({ newQuickJSWASMModule }) => newQuickJSWASMModule);

interface QuickJsWasi {
  QuickJS: {
    create(module: object): Promise<Handle & { evalCode(code: string): Handle; dump(handle: Handle): unknown }>;
  };
}

export const openQuickJsWasi: OpenAdapter = async (files) => {
  const { QuickJS } = (await importFrom(files, 'quickjs-wasi')) as QuickJsWasi;
  // The module is compiled once, as the package's documentation recommends.
  const wasm = await compile(readFileSync(requireFrom(files).resolve('quickjs-wasi/quickjs.wasm')));
  return {
    start: async () => {
      const machine = await QuickJS.create(wasm);
      return {
        evaluate: async (expression) => {
          const handle = machine.evalCode(expression);
          const value = String(machine.dump(handle));
          handle.dispose();
          return value;
        },
        dispose: async () => machine.dispose(),
      };
    },
  };
};

/** Compiles a module. The types of Node have no `WebAssembly` without the types of the web. */
const compile = (bytes: Uint8Array): Promise<object> =>
  (globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } }).WebAssembly.compile(bytes);
