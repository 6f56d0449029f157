import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { openPage, screenshot, withChromium } from '../support/browser.ts';
import { MemoryClient } from '../support/oauth-client.ts';
import { password } from '../support/people.ts';
import { openSite, type Site } from '../support/site.ts';

const info = { name: 'sightline-test', version: '0.0.0' };

withChromium((launch) => {
  describe('a person and a browser', () => {
    let site: Site;
    let callback: Server;
    let redirectUrl = '';

    beforeAll(async () => {
      site = await openSite(launch);
      // Where an editor waits for its answer.
      callback = createServer((_request, response) => void response.end('Back in the editor.')).listen(0, '127.0.0.1');
      await once(callback, 'listening');
      redirectUrl = `http://127.0.0.1:${z.object({ port: z.number() }).parse(callback.address()).port}/callback`;
    });

    afterAll(async () => {
      callback.close();
      await site.close();
    });

    /** What an editor does at first: it is refused, and wants a browser opened. */
    async function begin(): Promise<{ oauth: MemoryClient; transport: StreamableHTTPClientTransport }> {
      const oauth = new MemoryClient({ redirectUrl });
      const transport = connection(oauth);
      await expect(new Client(info).connect(transport)).rejects.toThrow(/unauthorized/i);
      return { oauth, transport };
    }

    function connection(oauth: MemoryClient): StreamableHTTPClientTransport {
      return new StreamableHTTPClientTransport(new URL(`${site.gateway.url}/mcp`), { authProvider: oauth });
    }

    async function callATool(oauth: MemoryClient): Promise<void> {
      const client = new Client(info);
      await client.connect(connection(oauth));
      const { isError, structuredContent } = await client.callTool({ name: 'list_incidents', arguments: {} });
      expect(isError ?? false).toBe(false);
      expect(JSON.stringify(structuredContent)).toContain('INC-1');
      await client.close();
    }

    async function signIn(page: Page, email: string): Promise<void> {
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
    }

    describe.each([
      ['with-javascript', true],
      ['without-javascript', false],
    ])('%s', (how, javaScript) => {
      const email = `ada-${javaScript}@acme.example`;

      it('comes by the password link, signs out, and lets an editor in: the first tool call answers', async () => {
        const page = await site.signedIn(email, { javaScript });
        await screenshot(page, `first-sign-in-${how}`);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.waitForURL('**/sign-in*');

        const { oauth, transport } = await begin();
        await page.goto(oauth.destination.href);
        await page.waitForURL('**/sign-in?return_to=*');
        await signIn(page, email);
        await page.waitForURL('**/consent/*');
        expect(await page.getByRole('main').innerText()).toContain('Test client');
        expect(await page.getByRole('main').innerText()).toContain(new URL(redirectUrl).host);
        await screenshot(page, `consent-${how}`);
        await page.getByRole('button', { name: 'Allow' }).click();
        await page.waitForURL(`${redirectUrl}*`);
        expect(await page.innerText('body')).toBe('Back in the editor.');

        await transport.finishAuth(new URL(page.url()).searchParams);
        await callATool(oauth);
        expect(await site.answer(oauth.kept?.access_token ?? '')).toBe(200);

        await page.goto(`${site.gateway.url}/integrations/applications`);
        await page.getByRole('link', { name: new RegExp(`Revoke.*Test client, ${email}`) }).click();
        await page.getByRole('button', { name: 'Revoke' }).click();
        await page.waitForURL('**/integrations/applications');
        expect(await site.answer(oauth.kept?.access_token ?? '')).toBe(401);
        await page.context().close();
      });

      it('denies, and the editor is told', async () => {
        const page = await openPage(site.browser, { javaScript });
        const { oauth, transport } = await begin();
        await page.goto(oauth.destination.href);
        await signIn(page, email);
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.waitForURL(`${redirectUrl}*`);
        const { searchParams } = new URL(page.url());
        expect(searchParams.get('error')).toBe('access_denied');
        expect(searchParams.has('code')).toBe(false);
        await expect(transport.finishAuth(searchParams)).rejects.toThrow('the person said no');
        await page.context().close();
      });
    });

    describe.each([
      ['a hosted client, whose callback redirects to its application,', true],
      ['an application with a scheme of its own', false],
    ])('%s', (_what, hosted) => {
      const email = `eve-${hosted}@acme.example`;
      let hits: URL[] = [];
      let hostedClient: Server;
      let back = 'cursor://anysphere.cursor-mcp/oauth/callback';

      beforeAll(async () => {
        // As claude.ai does for the desktop application.
        hostedClient = createServer((request, response) => {
          const url = new URL(request.url ?? '', back);
          if (url.pathname === '/callback') hits.push(url);
          response.writeHead(307, { location: `claude://callback${url.search}` }).end();
        }).listen(0, '127.0.0.1');
        await once(hostedClient, 'listening');
        const { port } = z.object({ port: z.number() }).parse(hostedClient.address());
        if (hosted) back = `http://127.0.0.1:${port}/callback`;
        await (await site.signedIn(email)).context().close();
      });
      beforeEach(() => {
        hits = [];
      });
      afterAll(() => {
        hostedClient.close();
      });

      it.each([
        ['Allow', true, 1],
        ['Allow', true, 2],
        ['Allow', false, 2],
        ['Deny', true, 1],
      ] as const)(
        'ends at a page that says it is done: %s, with scripts %s, clicks %i',
        async (button, scripts, clicks) => {
          const page = await openPage(site.browser, { javaScript: scripts });
          const refused: string[] = [];
          page.on('console', (message) => refused.push(message.text()));
          const oauth = new MemoryClient({ redirectUrl: back });
          const transport = connection(oauth);
          await expect(new Client(info).connect(transport)).rejects.toThrow(/unauthorized/i);
          await page.goto(oauth.destination.href);
          await signIn(page, email);
          await page.waitForURL('**/consent/*');
          await page.getByRole('button', { name: button }).click({ clickCount: clicks });
          await page.waitForURL('**/consent/*?answered');
          const main = page.getByRole('main');
          expect(await main.innerText()).toContain(button === 'Allow' ? 'Access allowed' : 'Access denied');
          expect(await main.innerText()).toContain('You can close this window.');
          const link = new URL((await page.getByRole('link', { name: /Go on to/ }).getAttribute('href')) ?? '');
          await screenshot(page, `answered-${hosted ? 'hosted' : 'scheme'}-${button.toLowerCase()}`);
          expect(link.href.startsWith(back)).toBe(true);
          if (hosted) expect(hits.map(({ search }) => search)).toEqual([link.search]);
          expect(refused.filter((text) => text.includes('Content Security Policy'))).toEqual([]);

          if (button === 'Deny') {
            await expect(transport.finishAuth(link.searchParams)).rejects.toThrow('the person said no');
          } else {
            await transport.finishAuth(link.searchParams);
            await callATool(oauth);
            await page.reload();
            expect(await main.innerText()).toContain('You have answered this already');
            if (hosted) expect(hits).toHaveLength(1);
            await page.goBack();
            expect(await main.innerText()).toContain('You have answered this already');
            await callATool(oauth);
          }
          await page.context().close();
        },
      );
    });

    it('needs the keyboard alone', async () => {
      const email = 'kay@acme.example';
      await (await site.signedIn(email)).context().close();
      const page = await openPage(site.browser);
      const { oauth, transport } = await begin();
      await page.goto(oauth.destination.href);

      await tabTo(page, 'E-mail address');
      await page.keyboard.type(email);
      await tabTo(page, 'Password');
      await page.keyboard.type(password);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/consent/*');
      await tabTo(page, 'Allow');
      await screenshot(page, 'consent-by-keyboard');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${redirectUrl}*`);
      await transport.finishAuth(new URL(page.url()).searchParams);
      await callATool(oauth);
      await page.context().close();
    });
  });
});

/** Presses Tab until what has this name is in focus, and sees that the focus shows. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    const focused = z.object({ name: z.string(), outline: z.string() }).parse(
      await page.evaluate(`(() => {
          const { activeElement: element } = document;
          const name = element.labels?.[0]?.textContent ?? element.textContent;
          return { name: name.trim(), outline: getComputedStyle(element).outlineStyle };
        })()`),
    );
    if (focused.name !== name) continue;
    expect(focused.outline).not.toBe('none');
    return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}
