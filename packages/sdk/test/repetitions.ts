// Tests that repeat have two forms: a short one in `pnpm test`, a long one in `pnpm test:long`.

/** Whether this is the long form. */
export const isLong = process.env['COLDFRAME_TESTS'] === 'long';

/** Returns `long` in the long form, else `short`. */
export const repetitions = (short: number, long: number): number => (isLong ? long : short);
