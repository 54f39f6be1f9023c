// SVG as text: one function for elements, and the colours and sizes that all charts share.
//
// Colours are CSS variables of the page, so that one drawing reads in light and dark. Every mark that stands for a figure carries
// a `<title>`, which browsers show on hover and screen readers read.

import type { ScenarioName } from '../../config/knobs.js';

export const escapeText = (text: string): string => text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);

type Attributes = Record<string, string | number | undefined>;

/** An element; children are already SVG or HTML, text has to go through `escapeText`. */
export function el(name: string, attributes: Attributes = {}, ...children: string[]): string {
  const text = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escapeText(value ?? '')}"`)
    .join('');
  return `<${name}${text}>${children.join('')}</${name}>`;
}

export const round = (value: number): number => Math.round(value * 10) / 10;

export const title = (text: string): string => el('title', {}, escapeText(text));

export const label = (x: number, y: number, text: string, attributes: Attributes = {}): string =>
  el('text', { x, y, ...attributes }, escapeText(text));

export const line = (x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string =>
  el('line', { x1, y1, x2, y2, ...attributes });

/** A drawing that scales with the page; `caption` is its accessible name. */
export const drawing = (width: number, height: number, caption: string, ...children: string[]): string =>
  el('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': caption }, ...children);

const PALETTE = ['owned-sidecar', 'shared-sidecar', 'resident-runner', 'embedded', 'embedded-inline', 'sixth', 'seventh'];

/** For series that have no colour of their own; after the last one the first comes again. */
export const paletteColor = (index: number): string => `var(--${PALETTE[index % PALETTE.length]})`;

export const scenarioColor = (scenario: ScenarioName): string => `var(--${scenario})`;
