// Checks that every opened element of a page is closed in the right order.

export function isWellNested(page: string): boolean {
  const open: string[] = [];
  for (const [, close, name = ''] of page.matchAll(/<(\/?)(svg|g|text|title|table|tr|td|th|div|p|ul|li|h1|h2)\b[^>]*>/g)) {
    if (!close) open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}
