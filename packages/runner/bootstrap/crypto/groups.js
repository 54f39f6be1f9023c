// The primes of the groups of RFC 2409 and 3526, such as "modp1". This file stores one number for
// all primes. Each prime of n bits is 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) * pi) + c). The
// longest prime therefore contains the digits of pi for all primes. Each other prime is computed
// from these digits and its `c`.
'use strict';

// name → [bits, c]
const GROUPS = {
  modp1: [768, 149_686n],
  modp2: [1024, 129_093n],
  modp5: [1536, 741_804n],
  modp14: [2048, 124_476n],
  modp15: [3072, 1_690_314n],
  modp16: [4096, 240_904n],
  modp17: [6144, 929_484n],
  modp18: [8192, 4_743_158n],
};

const LONGEST = [
  'ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437',
  '4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7edee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05',
  '98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b',
  'e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf6955817183995497cea956ae515d2261898fa051015728e5a8aaac42dad33170d04507a33',
  'a85521abdf1cba64ecfb850458dbef0a8aea71575d060c7db3970f85a6e1e4c7abf5ae8cdb0933d71e8c94e04a25619dcee3d2261ad2ee6bf12ffa06d98a0864',
  'd87602733ec86a64521f2b18177b200cbbe117577a615d6c770988c0bad946e208e24fa074e5ab3143db5bfce0fd108e4b82d120a92108011a723c12a787e6d7',
  '88719a10bdba5b2699c327186af4e23c1a946834b6150bda2583e9ca2ad44ce8dbbbc2db04de8ef92e8efc141fbecaa6287c59474e6bc05d99b2964fa090c3a2',
  '233ba186515be7ed1f612970cee2d7afb81bdd762170481cd0069127d5b05aa993b4ea988d8fddc186ffb7dc90a6c08f4df435c93402849236c3fab4d27c7026',
  'c1d4dcb2602646dec9751e763dba37bdf8ff9406ad9e530ee5db382f413001aeb06a53ed9027d831179727b0865a8918da3edbebcf9b14ed44ce6cbaced4bb1b',
  'db7f1447e6cc254b332051512bd7af426fb8f401378cd2bf5983ca01c64b92ecf032ea15d1721d03f482d7ce6e74fef6d55e702f46980c82b5a84031900b1c9e',
  '59e7c97fbec7e8f323a97a7e36cc88be0f1d45b7ff585ac54bd407b22b4154aacc8f6d7ebf48e1d814cc5ed20f8037e0a79715eef29be32806a1d58bb7c5da76',
  'f550aa3d8a1fbff0eb19ccb1a313d55cda56c9ec2ef29632387fe8d76e3c0468043e8f663f4860ee12bf2d5b0b7474d6e694f91e6dbe115974a3926f12fee5e4',
  '38777cb6a932df8cd8bec4d073b931ba3bc832b68d9dd300741fa7bf8afc47ed2576f6936ba424663aab639c5ae4f5683423b4742bf1c978238f16cbe39d652d',
  'e3fdb8befc848ad922222e04a4037c0713eb57a81a23f0c73473fc646cea306b4bcbc8862f8385ddfa9d4b7fa2c087e879683303ed5bdd3a062b3cf5b3a278a6',
  '6d2a13f83f44f82ddf310ee074ab6a364597e899a0255dc164f31cc50846851df9ab48195ded7ea1b1d510bd7ee74d73faf36bc31ecfa268359046f4eb879f92',
  '4009438b481c6cd7889a002ed5ee382bc9190da6fc026e479558e4475677e9aa9e3050e2765694dfc81f56e880b96e7160c980dd98edd3dfffffffffffffffff',
].join('');

const { hex } = native.encodings;

// Returns the prime of a group as big-endian bytes, or undefined if the name is unknown.
function groupPrime(name) {
  const group = GROUPS[`${name}`.toLowerCase()];
  if (group === undefined) return undefined;
  const [bits, extra] = group;
  if (bits === 8192) return new Uint8Array(native.encode(LONGEST, hex));
  const longest = (BigInt(`0x${LONGEST}`) + 1n + (1n << 8128n) - (1n << 8192n)) >> 64n;
  const pi = (longest - GROUPS.modp18[1]) >> BigInt(8192 - bits);
  const n = BigInt(bits);
  const prime = (1n << n) - (1n << (n - 64n)) - 1n + ((pi + extra) << 64n);
  return new Uint8Array(native.encode(prime.toString(16), hex));
}

module.exports = { groupPrime };
