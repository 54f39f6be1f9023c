// mocha: a suite with hooks, failures, promises and timeouts.

import assert from 'node:assert';
import Mocha from 'mocha';

const mocha = new Mocha({ reporter: 'json', timeout: 30, ui: 'bdd' });
mocha.suite.emit('pre-require', globalThis, 'suite', mocha);
const { after, before, beforeEach, describe, it } = globalThis;
describe('a suite', () => {
  const seen = [];
  before(() => seen.push('before'));
  beforeEach(() => seen.push('each'));
  after(() => process.stdout.write(`hooks: ${seen}\n`));
  it('passes', () => assert.strictEqual(1, 1));
  it('waits', async () => new Promise((resolve) => setTimeout(resolve, 2)));
  it('fails', () => assert.deepStrictEqual({ a: 1 }, { a: 2 }));
  it('takes too long', (done) => setTimeout(done, 5000).unref());
  it.skip('is skipped', () => {});
  describe('inside', () => it('calls back', (done) => setImmediate(done)));
});
const write = process.stdout.write;
let report = '';
process.stdout.write = (text) => {
  report += text;
  return true;
};
const failures = await new Promise((resolve) => {
  mocha.run(resolve);
});
process.stdout.write = write;
const { stats, tests } = JSON.parse(report.slice(report.indexOf('{')));
console.log(failures, stats.tests, stats.passes, stats.pending, stats.failures, /hooks: .*/.exec(report)[0]);
for (const { fullTitle, err } of tests) console.log(fullTitle, '|', err.message?.split('\n')[0] ?? 'ok');
