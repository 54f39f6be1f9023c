// Threads of Python, which run one after the other in the dev host. The tests need the built guest
// (`node packages/python/build/main.mjs`) and are skipped without it.
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonPath } from '../build/paths.mjs';
import { GuestThread } from './guest-thread.mjs';

const ONE_THREAD = /because the process has one thread/;

describe.skipIf(!existsSync(pythonPath))('threads of Python', () => {
  let guest;
  beforeAll(async () => {
    guest = await GuestThread.start();
  });
  afterAll(() => guest?.stop());

  const outputOf = async (source) => {
    const { stdout, stderr } = await guest.run({ mode: 'exec', source });
    expect(stderr).toBe('');
    return stdout;
  };

  it('have ended when start() returns', async () => {
    const source = `
import threading
names = []
thread = threading.Thread(target=lambda: names.append(threading.current_thread().name), name="T")
thread.start()
print(names, thread.is_alive(), threading.current_thread().name)
thread.join()`;
    expect(await outputOf(source)).toBe("['T'] False MainThread\n");
  });

  it('report an error that they do not catch', async () => {
    const source = 'import threading\nthreading.Thread(target=lambda: 1 / 0).start()\nprint("after")';
    const { stdout, stderr } = await guest.run({ mode: 'exec', source });
    expect(stdout).toBe('after\n');
    expect(stderr).toMatch(/^Exception in thread Thread-1[\s\S]*ZeroDivisionError: division by zero\n$/);
    expect(stderr).not.toContain('_coldframe');
  });

  it('are refused if the program would not wait for them', async () => {
    const source =
      'import threading\ntry: threading.Thread(target=print, daemon=True).start()\nexcept RuntimeError as e: print(e)';
    expect(await outputOf(source)).toMatch(ONE_THREAD);
  });

  it('run the tasks of executors when the tasks are submitted', async () => {
    const source = `
import asyncio
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda x: x * x, range(4))), type(pool.submit(int, "z").exception()).__name__)
pool = ThreadPoolExecutor(1, initializer=print, initargs=("begin",))
print(pool.submit(int, "5").result())
try: (pool.shutdown(), pool.submit(int))
except RuntimeError as error: print(error)`;
    expect(await outputOf(source)).toBe('[0, 1, 4, 9] ValueError\nbegin\n5\ncannot schedule new futures after shutdown\n');
  });

  it.each([
    ['a lock', 'lock = threading.Lock(); lock.acquire(); lock.acquire()'],
    ['an event', 'threading.Event().wait()'],
    ['a queue', 'queue.Queue().get()'],
    ['a simple queue', 'queue.SimpleQueue().get()'],
    ['a barrier', 'threading.Barrier(2).wait()'],
  ])('that wait for %s without a time limit fail', async (_, statement) => {
    const source = `import queue, threading\ntry: ${statement}\nexcept RuntimeError as error: print(error)`;
    expect(await outputOf(source)).toMatch(ONE_THREAD);
  });

  it('that wait with a time limit wait that long', async () => {
    const source = `
import queue, threading, time
begin = time.monotonic()
lock = threading.Lock()
print(threading.Event().wait(0.02), lock.acquire(), lock.acquire(timeout=0.02))
for made in (queue.Queue(), queue.SimpleQueue()):
    try: made.get(timeout=0.02)
    except queue.Empty: print("empty")
print(time.monotonic() - begin >= 0.08)`;
    expect(await outputOf(source)).toBe('False True False\nempty\nempty\nTrue\n');
  });

  it('do not change queues, locks and events of one thread', async () => {
    const source = `
import queue, threading
made = queue.PriorityQueue(); made.put(2); made.put(1)
event = threading.Event(); event.set()
condition = threading.Condition()
with threading.RLock(), condition: condition.notify_all()
print(made.get(), made.get(), event.wait(), threading.active_count())`;
    expect(await outputOf(source)).toBe('1 2 True 1\n');
  });

  it('cannot be replaced by processes of multiprocessing', async () => {
    const source =
      'import multiprocessing\ntry: multiprocessing.Process(target=print).start()\nexcept OSError as error: print(error)';
    expect(await outputOf(source)).toBe('multiprocessing is not available: use subprocess to run other programs\n');
  });
});
