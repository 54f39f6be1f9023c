// Selects the form of tests that repeat: a short form in `pnpm test`, a long form in `pnpm
// test:long`.

/** Whether repeating tests run in their long form. */
export const isLong = process.env['COLDFRAME_TESTS'] === 'long';

/** Returns `long` in the long form, else `short`. */
export const repetitions = (short: number, long: number): number => (isLong ? long : short);
