import { operator } from '../issuer/support.ts';
import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newId } from '../../src/contract/core/index.ts';
import type { AuthorizationRequest, AuthorizationRequests } from '../../src/contract/issuer/index.ts';
import type { Organization, User } from '../../src/contract/storage/index.ts';
import { complaintsOf, faultsOf, openPage, views, withChromium } from '../support/browser.ts';
import { listen } from '../support/listen.ts';
import { openSite, password, type Site } from './support/site.ts';

withChromium((launch) => {
  describe('in a browser', () => {
    let browser: Browser;
    let site: Site;
    let acme: Organization;
    let ada: User;
    let client: Server;
    let callback: string;
    let asked: AuthorizationRequest;

    const waiting: AuthorizationRequests = {
      find: async () => asked,
      approve: async () => answer(true, 'code=1'),
      deny: async () => answer(false, 'error=access_denied'),
    };

    const answer = (allowed: boolean, query: string): string => {
      asked = { ...asked, answer: { allowed, location: `${callback}?${query}` } };
      return `${site.authUrl}/consent/abc?answered`;
    };

    beforeAll(async () => {
      browser = await launch();
      client = createServer((_request, response) => response.end('the client has its answer'));
      callback = `http://127.0.0.1:${await listen(client)}/callback`;
    });
    afterAll(async () => {
      await browser.close();
      await new Promise((resolve) => client.close(resolve));
    });
    beforeEach(async () => {
      site = await openSite({ authorizationRequests: waiting });
      acme = await site.organization('Acme Robotics');
      const labs = await site.organization('Labs');
      ada = await site.person('ada@acme.example', [
        [acme, 'admin'],
        [labs, 'member'],
      ]);
      asked = {
        client: { id: 'dyn', name: 'Inspector', known: 'registration' },
        redirectOrigin: new URL(callback).origin,
        scopes: ['telemetry:read', 'chats:write'],
      };
    });
    afterEach(async () => {
      for (const context of browser.contexts()) await context.close();
      await site.close();
    });

    const signIn = async (page: Page, path: string): Promise<void> => {
      await page.goto(`${site.authUrl}${path}`);
      await page.getByLabel('E-mail address').fill('ada@acme.example');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`**${path}`);
    };

    it.each([true, false])('a person signs in and allows access, with scripts allowed: %s', async (javaScript) => {
      const page = await openPage(browser, { javaScript });
      const refused: string[] = [];
      page.on('console', (message) => refused.push(message.text()));
      await signIn(page, '/consent/abc');
      await page.getByLabel('Labs').check();
      await page.getByLabel('Write in chats as you').uncheck();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.waitForURL(`${callback}?code=1`);
      expect(refused).toEqual([]);
    });

    it('a person denies access', async () => {
      const page = await openPage(browser);
      await signIn(page, '/consent/abc');
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.waitForURL(`${callback}?error=access_denied`);
      expect(await page.textContent('body')).toBe('the client has its answer');
    });

    it("another site's page cannot show ours in a frame", async () => {
      const page = await openPage(browser);
      await page.goto(callback);
      await page.setContent(`<iframe src="${site.authUrl}/sign-in"></iframe>`);
      const frame = page.frames()[1];
      expect(await frame?.content()).not.toContain('Password');
    });

    it("another site's form changes nothing", async () => {
      const page = await openPage(browser);
      await signIn(page, '/account');
      await page.goto(callback);
      await page.setContent(
        `<form method="post" action="${site.authUrl}/account/sign-out-everywhere"><button>Win</button></form>`,
      );
      await page.getByRole('button').click();
      await page.waitForURL('**/account/sign-out-everywhere');
      expect(await page.textContent('main')).not.toContain('Sign in');
      await page.goto(`${site.authUrl}/account`);
      expect(await page.textContent('h1')).toBe('Account');
    });

    it('the keyboard reaches everything, the content first if one likes', async () => {
      const page = await openPage(browser);
      await signIn(page, '/account');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
    });

    it.each(views)('pages are good to look at and to listen to: $name', async (view) => {
      await site.storage.workspace(acme.id).grants.create({
        id: newId('gra'),
        userId: ada.id,
        clientId: 'c',
        clientName: 'An application with a name that is long enough to be cut off somewhere',
        redirectOrigin: 'https://a-very-long-host-name.of-an-application.example.com',
        scopes: ['incidents:read', 'chats:write'],
      });
      const actor = { kind: 'operator', id: 'root', name: 'root' } as const;
      const email = 'somebody-with-a-long-name@a-department.of-the-company.example.com';
      const { token } = await site.people.invite({ organizationId: acme.id, email, role: 'member', actor });
      const link = await site.people.createPasswordLink(ada.id, operator);

      const page = await openPage(browser, view);
      const complaints = complaintsOf(page);
      const look = async (name: string) => {
        expect(await faultsOf(page, `${name}-${view.name}`)).toEqual([]);
        // A page that answers with an error is one to the console, too.
        expect(complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
      };
      for (const [name, path] of [
        ['sign-in', '/sign-in'],
        ['invitation', `/invitation?token=${token}`],
        ['password', `/password?token=${link.token}`],
        ['password-ended', '/password?token=used'],
        ['not-found', '/nowhere'],
      ] as const) {
        await page.goto(`${site.authUrl}${path}`);
        await look(name);
      }
      await page.goto(`${site.authUrl}/sign-in`);
      await page.getByLabel('E-mail address').fill('ada@acme.example');
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      await look('sign-in-refused');

      await signIn(page, '/organizations');
      await look('organizations');
      await page.getByRole('button', { name: 'Acme Robotics' }).click();
      await page.waitForURL('**/incidents');
      for (const [name, path] of [
        ['account', '/account'],
        ['consent', '/consent/abc'],
      ] as const) {
        await page.goto(`${site.authUrl}${path}`);
        await look(name);
      }
      // The browser stays, as no program opens links of this scheme.
      asked = { ...asked, answer: { allowed: true, location: 'sightline-test://callback?code=1' } };
      await page.goto(`${site.authUrl}/consent/abc?answered`);
      await look('consent-answered');
      await page.goto(`${site.authUrl}/consent/abc`);
      await look('consent-answered-already');
    });
  });
});
