import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { accessibilityFindings, screenshot, views, withChromium } from '../support/browser.ts';
import { openSite, type Site } from '../support/site.ts';

/** What a person who was told nothing has to be able to say after one look, and where that stands. */
const rubric: readonly (readonly [question: string, term: string, answer: RegExp])[] = [
  [
    'What fails?',
    'What is wrong',
    /checkout CheckoutService\/PlaceOrder: \d+ of \d+ requests fail \(\d+ %; before [0-4](?:\.\d+)? %\)/,
  ],
  ['Since when?', 'Since', /\d{4}-\d\d-\d\d \d\d:\d\d UTC/],
  ['For whom?', 'Who is affected', /frontend POST \/api\/checkout.*amex/],
  ['Why?', 'Likeliest cause', /payment 2\.4\.0 deployed .*(?:high|medium) confidence/],
  ['What now?', 'What to do', /Roll back payment 2\.4\.0/],
];

withChromium((launch) => {
  describe("the demo's incident, seen for the first time", () => {
    let site: Site;
    beforeAll(async () => {
      site = await openSite(launch);
    }, 180_000);
    afterAll(() => site.close());

    async function open(email: string, how: Parameters<Site['signedIn']>[1]): Promise<Page> {
      const page = await site.signedIn(email, how);
      const cause = page.locator('dt', { hasText: 'Likeliest cause' });
      await page.goto(`${site.gateway.url}/incidents/INC-1`);
      for (let wait = 0; wait < 120 && (await cause.count()) === 0; wait += 1) {
        await page.waitForTimeout(500);
        await page.reload();
      }
      return page;
    }

    it('answers within one screen, without a script', async () => {
      const page = await open('plain@acme.example', { width: 1280, height: 800, javaScript: false });
      for (const [question, term, answer] of rubric) {
        const said = page.locator(`dt:text-is("${term}") + dd`);
        const box = await said.boundingBox();
        const text = ((await said.textContent()) ?? '').replaceAll(/\s+/g, ' ').replaceAll(' :', ':');
        expect([question, text]).toEqual([question, expect.stringMatching(answer)]);
        expect([question, box && box.y + box.height <= 800]).toEqual([question, true]);
      }
      for (const action of ['Ask or answer', 'Mitigated', 'Resolve', 'Change']) {
        const box = await page.getByRole('link', { name: action, exact: true }).boundingBox();
        expect([action, box && box.y < 200]).toEqual([action, true]);
      }
      await page.locator('summary', { hasText: 'SQL and rows' }).first().click();
      await page.locator('article summary', { hasText: /^SQL/ }).first().click();
      expect(await page.locator('article pre').first().isVisible()).toBe(true);
      await page.getByRole('link', { name: 'Resolve', exact: true }).click();
      expect(await page.getByLabel('Status').inputValue()).toBe('resolved');
      await page.context().close();
    }, 180_000);

    it.each(views)(
      'is short, small and for everybody: $name',
      async (view) => {
        const page = await open(`view-${view.name}@acme.example`, view);
        await screenshot(page, `incident-page-${view.name}`);
        const body = await page.content();
        const height = z.number().parse(await page.evaluate('document.documentElement.scrollHeight'));
        expect(Buffer.byteLength(body)).toBeLessThan(200_000);
        if (view.width === 1280) expect(height).toBeLessThan(4_000);
        expect(await accessibilityFindings(page)).toEqual([]);
        const smallest = await page.evaluate(
          `Math.min(...[...document.querySelectorAll('.gfx text')].map((text) => parseFloat(getComputedStyle(text).fontSize)))`,
        );
        expect(smallest).toBeGreaterThanOrEqual(10);
        await page.context().close();
      },
      180_000,
    );

    it('says how far the axes are from the clock of who looks', async () => {
      const page = await open('far@acme.example', { timeZone: 'Asia/Kolkata' });
      const caption = page.locator('figcaption', { hasText: 'Failing requests' });
      expect(await caption.textContent()).toBe('Failing requests UTC; your clock is UTC+05:30');
      await page.context().close();
      const there = await open('there@acme.example', { timeZone: 'Etc/UTC' });
      expect(await there.locator('figcaption', { hasText: 'Failing requests' }).textContent()).toBe(
        'Failing requests UTC',
      );
      await there.context().close();
      const plain = await open('near@acme.example', { javaScript: false });
      expect(await plain.locator('figcaption', { hasText: 'Failing requests' }).textContent()).toBe(
        'Failing requests UTC',
      );
      await plain.context().close();
    }, 180_000);

    it('is walked by keyboard: actions, the message, what is folded', async () => {
      const page = await open('keys@acme.example', { width: 1280, height: 800 });
      const reached: string[] = [];
      for (let press = 0; press < 60; press += 1) {
        await page.keyboard.press('Tab');
        reached.push(
          z
            .string()
            .parse(
              await page.evaluate(
                `(document.activeElement?.textContent ?? '').trim().replace(/\\s+/g, ' ').slice(0, 60) + (document.activeElement?.id ?? '')`,
              ),
            ),
        );
      }
      for (const wanted of ['Resolve', 'Change', 'message', 'As a table: Failing requests', ': SQL and rows']) {
        expect([wanted, reached.some((text) => text.includes(wanted))]).toEqual([wanted, true]);
      }
      const fold = page.locator('summary', { hasText: 'As a table: Failing requests' });
      await fold.focus();
      await page.keyboard.press('Enter');
      expect(await page.getByRole('group', { name: 'Failing requests' }).isVisible()).toBe(true);
      await page.context().close();
    }, 180_000);
  });
});
