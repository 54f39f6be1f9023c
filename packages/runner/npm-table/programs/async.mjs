// async: queues and control flow.

import async from 'async';

const queue = async.queue((task, done) => setTimeout(() => done(null, task * 2), 1), 2);
const results = await Promise.all([1, 2, 3].map((n) => queue.pushAsync(n)));
console.log(results);
console.log(await async.waterfall([(next) => next(null, 1, 2), (a, b, next) => setImmediate(next, null, a + b)]));
console.log(await async.auto({ a: async () => 1, b: async () => 2, c: ['a', 'b', ({ a, b }, done) => done(null, a + b)] }));
console.log(
  await async.mapLimit([1, 2, 3], 2, async (n) => n * n),
  await async.retry({ times: 3, interval: 1 }, async () => 'done'),
);
let tries = 0;
console.log(
  await async.retry(3, async () => {
    if (++tries < 3) throw new Error('again');
    return tries;
  }),
);
console.log(await async.parallel([(done) => done(new Error('failed')), (done) => done()]).catch((error) => error.message));
