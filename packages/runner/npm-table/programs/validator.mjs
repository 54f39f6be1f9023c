// validator: checks and sanitizers.

import validator from 'validator';

console.log(
  ['a@b.co', 'a@b', '"x y"@example.org'].map((text) => validator.isEmail(text)),
  validator.isURL('http://localhost:3000/x', { require_tld: false }),
);
console.log(
  validator.isCreditCard('4111 1111 1111 1111'),
  validator.isIBAN('DE89370400440532013000'),
  validator.isISO8601('2024-02-30', { strict: true }),
  validator.isUUID('x'),
);
console.log(
  validator.escape('<a href="x">'),
  validator.normalizeEmail('Some.One+tag@GMail.com'),
  validator.trim('  x '),
  validator.toInt('12px'),
);
console.log(
  validator.isMobilePhone('+4915123456789', 'de-DE'),
  validator.isStrongPassword('Abc!2345'),
  validator.isIP('::1', 6),
  validator.isJWT('a.b.c'),
);
