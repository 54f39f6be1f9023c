/**
 * The version of this package, which the sidecar must have too. `version.test.ts` compares it with
 * `package.json`.
 */
export const VERSION = '0.1.0';
