// mathjs: expressions, matrices, units, fractions and derivatives.

import { all, create } from 'mathjs';

const math = create(all);
console.log(
  math.evaluate('12 / (2.3 + 0.7)'),
  math.evaluate('9 / 3 + 2i').toString(),
  math.format(math.evaluate('5.08 cm to inch'), 6),
);
console.log(
  math.det([
    [-1, 2],
    [3, 1],
  ]),
  math.inv([
    [1, 2],
    [3, 4],
  ]),
  math.multiply(
    [
      [1, 2],
      [3, 4],
    ],
    [5, 6],
  ),
);
console.log(math.derivative('x^2 + 3 x * sin(x)', 'x').toString(), math.simplify('2 * 1 * x ^ (2 - 1)').toString());
console.log(
  math.format(math.fraction(1, 3)),
  math.add(math.bignumber('0.1'), math.bignumber('0.2')).toString(),
  math.mean(1, 2, 3, 4),
);
const parser = math.parser();
parser.evaluate('f(x, y) = x ^ y');
console.log(
  parser.evaluate('f(2, 10)'),
  math.eigs([
    [2, 0],
    [0, 3],
  ]).values,
);
