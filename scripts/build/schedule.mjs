// Runs each step as soon as the steps that it needs have ended. At most two steps run at a time,
// and at most one step of each lane.

const WIDTH = 2;

/**
 * Calls `work(step)` for each of `steps`, after the steps in its `needs`. A needed step that is not
 * in `steps` counts as done. After a failure no step starts; the function waits for running steps
 * and throws the first failure.
 */
export async function schedule(steps, work) {
  const waiting = [...steps];
  const running = new Map();
  const open = new Set(steps.map((step) => step.name));
  const failures = [];

  const isReady = (step) =>
    step.needs.every((name) => !open.has(name)) && ![...running.keys()].some((other) => step.lane && other.lane === step.lane);

  const begin = (step) => {
    waiting.splice(waiting.indexOf(step), 1);
    const ended = work(step)
      .catch((error) => failures.push(error))
      .finally(() => {
        running.delete(step);
        open.delete(step.name);
      });
    running.set(step, ended);
  };

  while (waiting.length > 0 || running.size > 0) {
    while (failures.length === 0 && running.size < WIDTH) {
      const next = waiting.find(isReady);
      if (!next) break;
      begin(next);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  if (failures.length > 0) throw failures[0];
}
