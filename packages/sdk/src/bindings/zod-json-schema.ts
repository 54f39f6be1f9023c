// Converts schemas of zod to JSON Schemas. The build makes a separate module of this file and of the
// parts of zod that it uses, so that the package does not depend on the whole of zod (6 MB).

export { toJSONSchema } from 'zod/mini';
