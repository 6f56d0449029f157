import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { accessibilityFindings, screenshot, views, withChromium } from '../support/browser.ts';
import { openSite, type Site } from '../support/site.ts';

const question = 'Why do checkouts fail?';

withChromium((launch) => {
  describe('a chat with the agent, in a browser', () => {
    let site: Site;
    beforeAll(async () => {
      site = await openSite(launch);
    }, 180_000);
    afterAll(() => site.close());

    async function ask(page: Page): Promise<void> {
      await page.goto(`${site.gateway.url}/chats/new`);
      await page.getByRole('textbox').fill(question);
      await page.getByRole('button', { name: 'Ask the agent' }).click();
      await page.waitForURL('**/chats/chat_*');
    }

    const cause = 'PaymentService/Charge';

    it('answers without a reload, and a click asks on', async () => {
      const page = await site.signedIn('live@acme.example');
      await ask(page);
      // Lost where the page is loaded again.
      await page.evaluate('globalThis.stillHere = true');
      await page.getByLabel('Your reply').fill('half a sentence');
      await page.locator('#messages article', { hasText: cause }).first().waitFor({ timeout: 60_000 });
      await page.locator('#messages figure svg').first().waitFor();
      expect(await page.evaluate('globalThis.stillHere')).toBe(true);
      expect(await page.getByLabel('Your reply').inputValue()).toBe('half a sentence');
      await page.getByRole('button', { name: 'Who is affected?' }).click();
      await page.locator('#message-4').waitFor({ timeout: 60_000 });
      expect(await page.locator('#message-4').textContent()).toMatch(/\d+ of \d+/);
      await page.context().close();
    }, 180_000);

    it('answers without a script, too', async () => {
      const page = await site.signedIn('plain@acme.example', { javaScript: false });
      await ask(page);
      await page.locator('#messages article', { hasText: cause }).first().waitFor({ timeout: 60_000 });
      await page.getByRole('button', { name: 'What should I do?' }).click();
      await page.locator('#message-4').waitFor({ timeout: 60_000 });
      await page.context().close();
    }, 180_000);

    it.each(views)(
      'is for everybody: $name',
      async (view) => {
        const page = await site.signedIn(`chat-${view.name}@acme.example`, view);
        await ask(page);
        await page.locator('#messages figure svg').first().waitFor({ timeout: 60_000 });
        await screenshot(page, `chat-page-${view.name}`);
        expect(await accessibilityFindings(page)).toEqual([]);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect(wide).toBeLessThanOrEqual(view.width);
        await page.context().close();
      },
      180_000,
    );
  });
});
