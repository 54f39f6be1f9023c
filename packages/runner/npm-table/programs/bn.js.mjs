// bn.js: big integers.

import BN from 'bn.js';

const a = new BN('dead beef cafe babe'.replaceAll(' ', ''), 16);
const b = new BN('123456789012345678901234567890');
console.log(a.mul(b).toString(10), b.div(a).toString(16), b.mod(a).toString(), a.gcd(b).toString(), a.shln(70).bitLength());
console.log(b.pow(new BN(7)).toString(36), new BN(3).toRed(BN.red('k256')).redPow(new BN(1000)).fromRed().toString(16), a.cmp(b));
console.log(new BN(-5).toTwos(16).toString(2), a.toArray('le', 10), new BN([1, 2, 3, 4]).toNumber());
