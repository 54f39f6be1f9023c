// decimal.js: decimal numbers of any precision.

import Decimal from 'decimal.js';

Decimal.set({ precision: 40 });
console.log(
  new Decimal('0.1').plus('0.2').toString(),
  new Decimal(2).sqrt().toString(),
  Decimal.exp(1).toString(),
  new Decimal(1).div(3).toFixed(10),
);
console.log(
  Decimal.acos(-1).toString(),
  new Decimal('1e400').times('1e-390').toString(),
  new Decimal('255.5').toHexadecimal(),
  new Decimal(-7).mod(3).toString(),
);
console.log(
  new Decimal('1234.5678').toSignificantDigits(6).toString(),
  new Decimal('123.456').toFraction(100).join('/'),
  Decimal.max(1, '3', 2).toString(),
);
