import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { screenshot, withChromium } from '../support/browser.ts';
import { exchange } from '../support/gateway.ts';
import { openSite, type Site } from '../support/site.ts';

withChromium((launch) => {
  describe('an API key on its page', () => {
    let site: Site;

    beforeAll(async () => {
      site = await openSite(launch);
    });

    afterAll(() => site.close());

    function textOf(page: Page, id: string): Promise<string> {
      return page.locator(`code#${id}`).innerText();
    }

    describe.each([
      ['with-javascript', true],
      ['without-javascript', false],
    ])('%s', (how, javaScript) => {
      it('is created, rotated, retired and revoked; what is taken back is dead with the next request', async () => {
        const page = await site.signedIn(`keeper-${javaScript}@acme.example`, { javaScript });
        await page.getByRole('link', { name: 'Integrations' }).click();
        await page.getByRole('link', { name: 'API keys' }).click();
        await page.getByRole('textbox', { name: 'Name' }).fill(`Nightly report ${how}`);
        await page.getByRole('checkbox', { name: /telemetry:read/ }).check();
        await page.getByRole('button', { name: 'Create key' }).click();

        await page.getByText('Copy the secret now').waitFor();
        await screenshot(page, `key-created-${how}`);
        const clientId = await textOf(page, 'client-id');
        const first = { client_id: clientId, client_secret: await textOf(page, 'client-secret') };
        const firstToken = await exchange(site.gateway.url, first);
        expect(await site.answer(firstToken)).toBe(200);
        await page.reload();
        expect(await textOf(page, 'client-secret')).toBe(first.client_secret);
        await page.getByRole('button', { name: 'I have copied it' }).click();
        await page.getByRole('button', { name: 'Rotate' }).waitFor();
        expect(await page.content()).not.toContain(first.client_secret);

        await page.getByRole('button', { name: 'Rotate' }).click();
        await page.getByText('Copy the secret now').waitFor();
        const second = { client_id: clientId, client_secret: await textOf(page, 'client-secret') };
        expect(second.client_secret).not.toBe(first.client_secret);
        const secondToken = await exchange(site.gateway.url, second);
        expect(await site.answer(firstToken)).toBe(200);

        await page.getByRole('link', { name: 'Pause the key' }).click();
        await page.getByRole('button', { name: 'Pause the key' }).click();
        await page.getByText('The key is paused since').waitFor();
        await screenshot(page, `key-paused-${how}`);
        expect(await site.answer(secondToken)).toBe(401);
        await page.getByRole('button', { name: 'Resume the key' }).click();
        await page.getByRole('link', { name: 'Pause the key' }).waitFor();
        expect(await site.answer(secondToken)).toBe(200);

        await page.getByRole('link', { name: 'Retire the older secret' }).click();
        await screenshot(page, `key-retire-${how}`);
        await page.getByRole('button', { name: 'Retire the older secret' }).click();
        await page.getByText('The older secret is deleted.').waitFor();
        expect(await site.answer(firstToken)).toBe(401);
        await expect(exchange(site.gateway.url, first)).rejects.toThrow('401');
        expect(await site.answer(secondToken)).toBe(200);

        await page.getByRole('link', { name: 'Revoke the key' }).click();
        await page.getByRole('link', { name: 'Cancel' }).click();
        expect(await site.answer(secondToken)).toBe(200);
        await page.getByRole('link', { name: 'Revoke the key' }).click();
        await screenshot(page, `key-revoke-${how}`);
        await page.getByRole('button', { name: 'Revoke the key' }).click();
        await page.getByText('The key is revoked.').waitFor();
        expect(await site.answer(secondToken)).toBe(401);
        expect(await page.content()).not.toContain(clientId);
        await page.context().close();
      });
    });

    it('is copied by a button, which is only where a script can copy', async () => {
      const page = await site.signedIn('copier@acme.example');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: site.gateway.url });
      await page.goto(`${site.gateway.url}/integrations/api-keys`);
      await page.getByRole('textbox', { name: 'Name' }).fill('Copied');
      await page.getByRole('checkbox', { name: /telemetry:read/ }).check();
      await page.getByRole('button', { name: 'Create key' }).click();
      const secret = await textOf(page, 'client-secret');
      await page.locator('[data-copy=client-secret]').click();
      await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
      await page.context().close();

      const without = await site.signedIn('reader@acme.example', { javaScript: false });
      await without.goto(`${site.gateway.url}/integrations/telemetry`);
      expect(await without.getByRole('button', { name: 'Copy' }).count()).toBe(0);
      await without.context().close();
    });
  });
});
