import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { complaintsOf, faultsOf, views, withChromium } from '../support/browser.ts';
import { openSite, type Site } from '../support/site.ts';

const addresses = z.array(z.string());

withChromium((launch) => {
  describe('every page', () => {
    let site: Site;

    beforeAll(async () => {
      site = await openSite(launch);
    });

    afterAll(() => site.close());

    it.each(views)(
      'that links lead an admin to is for everybody: $name',
      async (view) => {
        const page = await site.signedIn(`admin-${view.name}@acme.example`, view);
        const complaints = complaintsOf(page);
        await page.goto(`${site.gateway.url}/integrations/api-keys`);
        await page.getByRole('textbox', { name: 'Name' }).fill(`Nightly report, ${view.name}`);
        await page.getByRole('checkbox', { name: /telemetry:read/ }).check();
        await page.getByRole('button', { name: 'Create key' }).click();
        const findings = [...(await faultsOf(page, `key-created-${view.name}`))];

        const seen = new Set<string>();
        const ahead = ['/', '/incidents'];
        for (let path = ahead.shift(); path !== undefined; path = ahead.shift()) {
          const name = nameOf(path);
          if (seen.has(name)) continue;
          seen.add(name);
          await page.goto(`${site.gateway.url}${path}`);
          findings.push(...(await faultsOf(page, `${name}-${view.name}`)));
          const links = addresses.parse(
            await page.evaluate(`[...document.querySelectorAll('a[href]')].map(({ href }) => href)`),
          );
          for (const link of links.map((text) => new URL(text))) {
            if (link.origin === site.gateway.url) ahead.push(`${link.pathname}${link.search}`);
          }
        }
        expect(findings).toEqual([]);
        expect(complaints).toEqual([]);
        expect([...seen]).toEqual(
          expect.arrayContaining([
            'incidents',
            'incidents-ID',
            'chats-ID',
            'integrations-api-keys-ID-revoke',
            'members',
          ]),
        );
        await page.context().close();
      },
      180_000,
    );
  });
});

/** Of a kind of page: ids and incidents' keys are all the same. */
function nameOf(path: string): string {
  const { pathname } = new URL(path, 'http://page');
  const words = pathname.split('/').filter((word) => word !== '');
  return words.map((word) => (/^[a-z]+_|^[A-Z]+-\d+$|^[0-9a-f]{32}$/.test(word) ? 'ID' : word)).join('-') || 'landing';
}
