import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import {
  accessibilityFindings,
  openPage,
  screenshot,
  sidewaysScroll,
  views,
  withChromium,
  type View,
} from '../support/browser.ts';
import { sightlineJson } from '../support/gateway.ts';
import { organization, openSite, type Site } from '../support/site.ts';

const addresses = z.array(z.string());

withChromium((launch) => {
  describe('every page', () => {
    let site: Site;

    beforeAll(async () => {
      site = await openSite(launch);
    });

    afterAll(() => site.close());

    /** What is wrong with the page. A picture of it is kept as a person first sees it. */
    async function look(page: Page, name: string, view: View): Promise<readonly string[]> {
      await screenshot(page, `${name}-${view.name}`);
      // What is folded away is checked, too.
      await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`);
      const wider = await sidewaysScroll(page);
      return [
        ...(await accessibilityFindings(page)).map((text) => `${name}: ${text}`),
        ...(wider > 0 ? [`${name}: ${wider} pixels wider than the window`] : []),
      ];
    }

    it.each(views)(
      'that links lead an admin to is for everybody: $name',
      async (view) => {
        const page = await site.signedIn(`admin-${view.name}@acme.example`, view);
        const complaints = complaintsOf(page);
        await page.goto(`${site.gateway.url}/integrations/api-keys`);
        await page.getByRole('textbox', { name: 'Name' }).fill(`Nightly report, ${view.name}`);
        await page.getByRole('checkbox', { name: /telemetry:read/ }).check();
        await page.getByRole('button', { name: 'Create key' }).click();
        const findings = [...(await look(page, 'key-created', view))];

        const seen = new Set<string>();
        const ahead = ['/', '/incidents'];
        for (let path = ahead.shift(); path !== undefined; path = ahead.shift()) {
          const name = nameOf(path);
          if (seen.has(name)) continue;
          seen.add(name);
          await page.goto(`${site.gateway.url}${path}`);
          findings.push(...(await look(page, name, view)));
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

    it.each(views)(
      'before signing in is for everybody: $name',
      async (view) => {
        const page = await openPage(site.browser, view);
        const complaints = complaintsOf(page);
        const { url } = site.gateway;
        const findings: string[] = [];
        await page.goto(`${url}/sign-in`);
        findings.push(...(await look(page, 'sign-in', view)));
        await page.getByLabel('E-mail address').fill('nobody@acme.example');
        await page.getByLabel('Password').fill('not the password');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('alert').waitFor();
        findings.push(...(await look(page, 'sign-in-refused', view)));
        await page.goto(await site.passwordLink(`new-${view.name}@acme.example`));
        findings.push(...(await look(page, 'password', view)));
        await page.goto(`${url}/password?token=used`);
        findings.push(...(await look(page, 'password-ended', view)));
        const invited = ['user', 'invite', '--email', `guest-${view.name}@acme.example`, '--org', organization];
        const { url: invitation } = await sightlineJson(
          site.gateway.dataDirectory,
          invited,
          z.object({ url: z.string() }),
        );
        await page.goto(invitation);
        findings.push(...(await look(page, 'invitation', view)));
        await page.goto(`${url}/nowhere`);
        findings.push(...(await look(page, 'nowhere', view)));
        expect(findings).toEqual([]);
        // A page that answers with an error is one to the console, too.
        expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
        await page.context().close();
      },
      120_000,
    );
  });
});

/** What the browser says on its console: refused styles and scripts, mostly. */
function complaintsOf(page: Page): readonly string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  return complaints;
}

/** Of a kind of page: ids and incidents' keys are all the same. */
function nameOf(path: string): string {
  const { pathname } = new URL(path, 'http://page');
  const words = pathname.split('/').filter((word) => word !== '');
  return words.map((word) => (/^[a-z]+_|^[A-Z]+-\d+$|^[0-9a-f]{32}$/.test(word) ? 'ID' : word)).join('-') || 'landing';
}
