// Writes SVG as text: a function for elements, and the colours that all charts share.
//
// Colours are CSS variables of the page, so that a drawing is readable on a light and on a dark
// page. Every mark of a figure has a `<title>`, which browsers show on hover and screen readers
// read.

export const escapeText = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);

type Attributes = Record<string, string | number | undefined>;

/** Writes an element. Children must be SVG or HTML, so a text must be escaped with `escapeText`. */
export function el(name: string, attributes: Attributes = {}, ...children: string[]): string {
  const text = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escapeText(value ?? '')}"`)
    .join('');
  return `<${name}${text}>${children.join('')}</${name}>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

export const title = (text: string): string => el('title', {}, escapeText(text));

export const label = (x: number, y: number, text: string, attributes: Attributes = {}): string =>
  el('text', { x, y, ...attributes }, escapeText(text));

export const line = (x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string =>
  el('line', { x1, y1, x2, y2, ...attributes });

/** Writes a drawing that scales with the page. `caption` is the drawing's accessible name. */
export const drawing = (width: number, height: number, caption: string, ...children: string[]): string =>
  el('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': caption }, ...children);

const SERIES = 7;

/** Returns the colour of a series. The colours repeat after the last colour. */
export const seriesColor = (index: number): string => `var(--series-${(index % SERIES) + 1})`;
