// Texts for sizes and times.

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a number of bytes with a unit. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Returns a number of seconds as a text such as `4 min`. */
export function duration(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 120) return `${Math.round(size)} s`;
  if (size < 7_200) return `${Math.round(size / 60)} min`;
  return size < 172_800 ? `${Math.round(size / 3_600)} h` : `${Math.round(size / 86_400)} d`;
}

/** Returns the age of a time of RFC 3339. */
export const age = (time: string): string => duration((Date.now() - Date.parse(time)) / 1_000);

/** Returns a time of RFC 3339 in the form of the user's language. */
export const clock = (time: string): string => new Date(time).toLocaleString();
