// Converts schemas of zod to JSON Schemas. The build bundles this file with the parts of zod that
// the file uses. The package therefore does not depend on the whole of zod, which has 6 MB.

export { toJSONSchema } from 'zod/mini';
