// bluebird: promises with timeouts, concurrency and cancellation.

import Bluebird from 'bluebird';

const log = [];
let running = 0;
let most = 0;
await Bluebird.map(
  [5, 3, 1, 2],
  async (ms) => {
    most = Math.max(most, ++running);
    await Bluebird.delay(ms);
    running--;
    log.push(ms);
  },
  { concurrency: 2 },
);
console.log(
  most,
  log.length,
  await Bluebird.props({ a: 1, b: Bluebird.resolve(2) }),
  await Bluebird.reduce([1, 2, 3], (a, b) => a + b),
);
const outcome = await Bluebird.delay(1000)
  .timeout(5, 'too slow')
  .catch(Bluebird.TimeoutError, (error) => error.message);
console.log(
  outcome,
  await Bluebird.fromCallback((done) => done(null, 'callback')),
  await Bluebird.any([Bluebird.reject(new Error('x')), 7]),
);
const settled = await Bluebird.all([Bluebird.resolve(1), Bluebird.reject(new RangeError('r'))].map((p) => p.reflect()));
console.log(
  settled.map((s) => s.isFulfilled()),
  await Bluebird.coroutine(function* () {
    return (yield Bluebird.delay(1, 40)) + 2;
  })(),
);
