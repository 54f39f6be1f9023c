// yup: schemas, casts and tests.

import * as yup from 'yup';

const schema = yup.object({
  name: yup.string().trim().required(),
  age: yup.number().positive().integer(),
  site: yup.string().url().nullable(),
  tags: yup
    .array()
    .of(yup.string().min(2))
    .default(() => ['none']),
});
console.log(schema.cast({ name: ' x ', age: '24' }), await schema.isValid({ name: 'a', age: 1.5 }));
const failure = await schema.validate({ age: -1, site: 'no', tags: ['x'] }, { abortEarly: false }).catch((error) => error);
console.log(
  failure.name,
  failure.errors,
  failure.inner.map(({ path, type }) => `${path} ${type}`),
);
console.log(
  await yup
    .string()
    .test('even', '${path} is odd', (value) => value.length % 2 === 0)
    .validate('abc')
    .catch((error) => error.message),
);
