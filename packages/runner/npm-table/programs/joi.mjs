// joi: schemas with references and conditions.

import Joi from 'joi';

const schema = Joi.object({
  name: Joi.string().alphanum().min(3).required(),
  birth: Joi.number().integer().min(1900).max(2013),
  password: Joi.string().pattern(/^[a-z]{3,}$/),
  again: Joi.ref('password'),
  kind: Joi.valid('a', 'b').default('a'),
  extra: Joi.when('kind', { not: 'b', otherwise: Joi.required() }),
}).with('name', 'birth');
console.log(schema.validate({ name: 'abc', birth: '1994', password: 'xyz', again: 'xyz' }));
const { error } = schema.validate({ name: 'a!', birth: 1, again: 'q', kind: 'b', more: 1 }, { abortEarly: false });
console.log(
  error.name,
  error.details.map(({ message, path }) => `${path}: ${message}`),
);
console.log(await Joi.array().items(Joi.date().iso()).validateAsync(['2024-01-01']), Joi.attempt('5', Joi.number()));
