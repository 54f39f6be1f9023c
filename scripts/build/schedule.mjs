// Runs steps as soon as what they need is done: two at a time, and one at a time per lane.

const WIDTH = 2;

/**
 * Calls `work(step)` for each of `steps`, a step after all of its `needs` that are among them.
 * After a failure nothing more is begun; what runs is waited for, and the first failure is thrown.
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
