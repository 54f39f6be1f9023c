// ajv: compiled schemas, formats of errors, custom keywords.

import Ajv from 'ajv';

const ajv = new Ajv({ allErrors: true, useDefaults: true, coerceTypes: true });
ajv.addKeyword({ keyword: 'even', type: 'number', validate: (wanted, value) => (value % 2 === 0) === wanted });
const validate = ajv.compile({
  type: 'object',
  properties: {
    count: { type: 'integer', minimum: 2, even: true },
    kind: { enum: ['a', 'b'], default: 'a' },
    list: { type: 'array', items: { $ref: '#/definitions/item' }, uniqueItems: true },
  },
  required: ['count'],
  additionalProperties: false,
  definitions: { item: { type: 'string', pattern: '^[a-z]+$' } },
});
for (const data of [{ count: '4', list: ['x'] }, { count: 1, list: ['x', 'x', 'Y'], more: 1 }, {}]) {
  console.log(validate(data), JSON.stringify(data), ajv.errorsText(validate.errors));
}
