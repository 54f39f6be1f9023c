// stat, lstat, fstat and statfs. The kernel writes the numbers in the order of Node's own array.
// The synchronous calls share the binding's array, because Node's library reads the array before
// any other call. Each request has an array of its own. Next: io.js.
'use strict';

const { NUMBERS, ERRNO, sys } = require('./calls.js');
const { failure, later } = require('./answers.js');
const { checkFd } = require('./checks.js');

const FIELDS = 18;
const FS_FIELDS = 7;

module.exports = function installStats(binding) {
  const { statValues, bigintStatValues, statFsValues, bigintStatFsValues } = binding;
  const shared = statValues.subarray(0, FIELDS);

  // Returns the array of a synchronous call, as a BigInt64Array if `bigint` is set.
  const forSync = (bigint) => (bigint ? toBigInts(shared, bigintStatValues) : statValues);
  const fresh = (bigint, values) => (bigint ? toBigInts(values, new BigInt64Array(values.length)) : values);

  function statBy(name, follow) {
    return (path, bigint, req, throwIfNoEntry) => {
      if (req === undefined) {
        const result = sys(NUMBERS.stat, path, shared, follow);
        if (result >= 0) return forSync(bigint);
        if (throwIfNoEntry === false && (result === ERRNO.ENOENT || result === ERRNO.ENOTDIR)) return undefined;
        throw failure(result, name, path);
      }
      const values = new Float64Array(FIELDS);
      return later(req, name, path, undefined, () => {
        const result = sys(NUMBERS.stat, path, values, follow);
        if (result >= 0) return fresh(bigint, values);
        return throwIfNoEntry === false && (result === ERRNO.ENOENT || result === ERRNO.ENOTDIR) ? undefined : result;
      });
    };
  }
  binding.stat = statBy('stat', 1);
  binding.lstat = statBy('lstat', 0);

  binding.fstat = (fd, bigint, req, shouldNotThrow) => {
    checkFd(fd);
    if (req === undefined) {
      const result = sys(NUMBERS.fstat, fd, shared);
      if (result >= 0) return forSync(bigint);
      if (shouldNotThrow) return undefined;
      throw failure(result, 'fstat');
    }
    const values = new Float64Array(FIELDS);
    return later(req, 'fstat', undefined, undefined, () => {
      const result = sys(NUMBERS.fstat, fd, values);
      return result < 0 ? result : fresh(bigint, values);
    });
  };

  binding.statfs = (path, bigint, req) => {
    if (req === undefined) {
      const result = sys(NUMBERS.statfs, path, statFsValues.subarray(0, FS_FIELDS));
      if (result < 0) throw failure(result, 'statfs', path);
      return bigint ? toBigInts(statFsValues, bigintStatFsValues) : statFsValues;
    }
    const values = new Float64Array(statFsValues.length);
    return later(req, 'statfs', path, undefined, () => {
      const result = sys(NUMBERS.statfs, path, values);
      return result < 0 ? result : fresh(bigint, values);
    });
  };
};

function toBigInts(values, target) {
  for (let i = 0; i < values.length; i++) target[i] = BigInt(values[i]);
  return target;
}
