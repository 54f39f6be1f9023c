// zod: schemas, transforms and readable issues.

import { z } from 'zod';

const User = z.object({
  name: z.string().min(2),
  email: z.email(),
  age: z.coerce.number().int().positive().optional(),
  role: z.enum(['admin', 'user']).default('user'),
  tags: z.array(z.string()).transform((tags) => tags.map((tag) => tag.toUpperCase())),
});
console.log(User.parse({ name: 'Ada', email: 'ada@example.org', age: '36', tags: ['a', 'b'] }));
const { error } = User.safeParse({ name: 'A', email: 'nowhere', age: -1, tags: [1] });
console.log(z.prettifyError(error));
const Shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number() }),
  z.object({ kind: z.literal('square'), side: z.number() }),
]);
console.log(Shape.safeParse({ kind: 'circle', radius: 2 }).success, Shape.safeParse({ kind: 'line' }).success);
