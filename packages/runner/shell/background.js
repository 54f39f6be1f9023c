// Implements `command &`. A single pipeline starts without a wait, so that `$!` is the process of
// the last command. A list of pipelines runs in a copy of this shell (fork.js). Next: jobs.js.

import { mustFork } from './fork.js';
import { addJob, backgroundGroup } from './jobs.js';
import { textOf } from './nodes.js';
import { startPipeline } from './pipelines.js';

export async function background(interpreter, node) {
  const { state } = interpreter.ctx;
  const [pipeline] = node.pipelines;
  const group = backgroundGroup();
  const pids =
    node.pipelines.length === 1 && !pipeline.negated
      ? await startPipeline(interpreter, pipeline, group)
      : [mustFork(interpreter, { ...node, background: false }, [-1, 1, 2], group.next())];
  const pid = pids.at(-1);
  if (pid !== undefined) {
    addJob(pids, textOf(node.pipelines, node.operators), group.id);
    state.lastBackgroundPid = pid;
    state.env.set('!', String(pid));
  }
  state.lastExitCode = 0;
  state.env.set('?', '0');
  return { stdout: '', stderr: '', exitCode: 0 };
}
