// The pages and the windows of `pnpm docs:look`, and the checks of a page in a window.

/** The landing page, a guide, a page with wide tables, and a page with long code. */
export const PAGES = [
  '',
  'guide/model-code.html',
  'recipes/openai.html',
  'limits.html',
  'api/network.html',
  'node-compatibility.html',
];

export const WINDOWS = {
  narrow: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  wide: { viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' },
};

/** Returns the smallest contrast of two colours that people can read: WCAG 2, level AA. */
const READABLE = 4.5;

/** Runs in the browser: returns the facts of the page that the checks compare. */
function readFacts() {
  const luminance = (colour) => {
    const channels = colour
      .match(/[\d.]+/g)
      .slice(0, 3)
      .map((text) => Number(text) / 255);
    const [r, g, b] = channels.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = getComputedStyle(document.body).backgroundColor;
  const contrast = (element) => {
    const [low, high] = [luminance(getComputedStyle(element).color), luminance(background)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  return {
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    headings: document.querySelectorAll('h1').length,
    dark: document.documentElement.classList.contains('dark'),
    links: [...document.querySelectorAll('.vp-doc p a, .vp-doc td a')].map(contrast),
    text: [...document.querySelectorAll('.vp-doc p')].map(contrast),
    editLinks: document.querySelectorAll('.edit-link-button').length,
    menu: [...document.querySelectorAll('.VPNavBarMenu, .VPNavBarHamburger')].some((element) => element.offsetParent !== null),
  };
}

/** Returns a line for each mistake of a loaded page. */
export async function checkPage(page, { colorScheme }) {
  const facts = await page.evaluate(readFacts);
  const isLanding = new URL(page.url()).pathname === '/';
  const rules = [
    [facts.overflow <= 0, `the page is ${facts.overflow} pixels wider than the window`],
    [facts.headings === 1, `${facts.headings} headings of the first level`],
    [facts.dark === (colorScheme === 'dark'), 'the colours do not follow the system'],
    [Math.min(...facts.links, ...facts.text) >= READABLE, 'a text or a link has too little contrast'],
    [isLanding || facts.editLinks === 1, 'the page has no link for edits'],
    [facts.menu, 'the page has no menu'],
  ];
  return rules.filter(([holds]) => !holds).map(([, mistake]) => mistake);
}

/** Searches for a term, opens the first result, and returns a line for each mistake. */
export async function checkSearch(context, url, screenshot) {
  const page = await context.newPage();
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.locator('.DocSearch-Button').first().click();
  await page.locator('.search-input').fill('waitForListener');
  const results = page.locator('.VPLocalSearchBox .result');
  await results.first().waitFor();
  await page.screenshot({ path: screenshot });
  await results.first().click();
  await page.locator('.vp-doc h1').first().waitFor();
  const found = await page.locator('.vp-doc').textContent();
  await page.close();
  return found?.includes('waitForListener') ? [] : ['the first result does not have the term'];
}
