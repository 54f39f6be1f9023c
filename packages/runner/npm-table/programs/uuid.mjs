// uuid: all versions, parsing and validation.

import { NIL, parse, stringify, v1, v3, v4, v5, v7, validate, version } from 'uuid';

console.log(v5('hello.example.com', v5.DNS), v3('hello.example.com', v3.DNS), NIL);
const bytes = Uint8Array.from({ length: 16 }, (_value, index) => index * 16);
console.log(v4({ random: bytes }), v7({ random: bytes, msecs: 1_700_000_000_000, seq: 5 }));
console.log(v1({ node: [1, 2, 3, 4, 5, 6], clockseq: 0x1234, msecs: 1_700_000_000_000, nsecs: 5 }));
console.log(new Set(Array.from({ length: 100 }, () => v4())).size, version(v4()), validate('x'), version(v7()));
console.log(stringify(parse('6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b')));
