// A first program for the sandbox: an ES module. `npx --yes pnpm@10 quickstart` runs the module.
//
// Change the module, or run another file: `npx --yes pnpm@10 quickstart FILE`.

const primes = [];
for (let n = 2; primes.length < 10; n++) {
  if (primes.every((prime) => n % prime !== 0)) primes.push(n);
}
console.log('The first primes are', primes.join(' '));

const square = async (n) => n * n;
const squares = await Promise.all(primes.slice(0, 5).map(square)); // top-level await
console.log('and the first squares of them', squares.join(' '));

try {
  null.size;
} catch (error) {
  console.log('An error is an error:', error instanceof TypeError);
}

const secret = process.env.PWD ?? 'nothing';
console.log(`Of the host's environment I see ${secret}.`);
