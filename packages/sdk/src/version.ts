/**
 * The version of this package. The sidecar must have an equal version. `version.test.ts` compares
 * this constant with `package.json`.
 */
export const VERSION = '0.1.0';
