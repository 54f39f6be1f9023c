// An executor is a live runtime or a live resident runner. The executor executes snippets until its
// disposal.

import type { NodeRuntime } from 'coldframe';
import type { ExecResult } from './snippet.js';

export interface Executor {
  exec(code: string): Promise<ExecResult>;
  dispose(): Promise<void>;
}

/** Executes each snippet in a fresh guest process of a runtime. */
export const executorOf = (runtime: NodeRuntime): Executor => ({
  exec: (code) => runtime.exec(code),
  dispose: () => runtime.dispose(),
});
