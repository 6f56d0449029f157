import { describe, it } from '@jest/globals';
import { join } from 'node:path';
import axe from 'axe-core';
import { chromium, type Browser, type Page } from 'playwright-core';
import { z } from 'zod';
import { findChromium, launchOptions } from './chromium.ts';
import { root } from './gateway.ts';

/** How a page is looked at. */
export interface View {
  readonly name: string;
  readonly colorScheme: 'light' | 'dark';
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
}

/** A view with the browser's settings. */
export interface Seen extends View {
  readonly javaScript: boolean;
  /** Such as `Asia/Kolkata`. */
  readonly timeZone: string;
}

/** Every page has to be good in each. */
export const views: readonly View[] = [
  { name: 'light', colorScheme: 'light', width: 1280, height: 800 },
  { name: 'dark', colorScheme: 'dark', width: 1280, height: 800 },
  { name: 'narrow', colorScheme: 'light', width: 360, height: 740 },
  { name: 'narrow-dark', colorScheme: 'dark', width: 360, height: 740 },
];

/** Suites in a real browser; one skipped line where there is none, which fails under REQUIRE_SERVICES=1. */
export function withChromium(suites: (launch: () => Promise<Browser>) => void): void {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    describe.skip('pages: there is no Chromium (CHROMIUM_PATH)', () => it('are looked at', () => undefined));
    return;
  }
  suites(() => chromium.launch(launchOptions(executablePath)));
}

/** A page in a context of its own, as a person with nothing stored yet has it. */
export async function openPage(
  browser: Browser,
  { colorScheme = 'light', width = 1280, height = 800, javaScript = true, timeZone = 'UTC' }: Partial<Seen> = {},
): Promise<Page> {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height },
    javaScriptEnabled: javaScript,
    timezoneId: timeZone,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  return page;
}

/** With SCREENSHOTS=1, keeps what the page looks like, whole, as `artifacts/screenshots/<name>.png`. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env['SCREENSHOTS'] !== '1') return;
  await page.screenshot({ path: join(root, 'artifacts/screenshots', `${name}.png`), fullPage: true });
}

const findings = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullish(),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
  }),
);

/** What axe finds wrong with the page, a paragraph each; empty where it is well. */
export async function accessibilityFindings(page: Pick<Page, 'evaluate'>): Promise<readonly string[]> {
  // Evaluated by the debugger: the page's content security policy lets no script of ours in, and shall not.
  await page.evaluate(axe.source);
  const violations = findings.parse(
    await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`),
  );
  return violations.map(({ id, impact, help, nodes }) =>
    [`${id} (${impact}): ${help}`, ...nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`)].join('\n'),
  );
}

/**
 * What is wrong with the page, a paragraph each; empty where it is well. A picture is taken as a person first sees it; what is
 * folded away is checked, too.
 */
export async function faultsOf(page: Page, name: string): Promise<readonly string[]> {
  await screenshot(page, name);
  await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`);
  const wider = await sidewaysScroll(page);
  const faults = [
    ...(await accessibilityFindings(page)),
    ...(wider > 0 ? [`${wider} pixels wider than the window`] : []),
    ...(await layoutFaults(page)),
  ];
  return faults.map((text) => `${name}: ${text}`);
}

/** What a person sees at once and axe does not: the name of a row that its frame cuts off, a button that touches its field. */
async function layoutFaults(page: Pick<Page, 'evaluate'>): Promise<readonly string[]> {
  return z.array(z.string()).parse(
    await page.evaluate(`[
      ...[...document.querySelectorAll('.table tbody th')]
        .filter((cell) => cell.offsetWidth > cell.closest('.table').clientWidth)
        .map((cell) => 'wider than its frame: ' + cell.textContent.trim()),
      ...[...document.querySelectorAll('input + button, select + button, textarea + button')]
        .filter((button) => button.previousElementSibling.type !== 'hidden')
        .filter((button) => {
          const [above, below] = [button.previousElementSibling, button].map((each) => each.getBoundingClientRect());
          return below.top < above.bottom + 4 && below.left < above.right + 4;
        })
        .map((button) => 'touches the field before it: ' + button.textContent.trim()),
    ]`),
  );
}

/** What the browser says on its console: refused styles and scripts, mostly. */
export function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  return complaints;
}

/** CSS pixels by which the page is wider than the window. */
export async function sidewaysScroll(page: Pick<Page, 'evaluate'>): Promise<number> {
  return z
    .number()
    .parse(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'));
}
