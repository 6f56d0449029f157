import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { newId } from '../../src/contract/core/index.ts';
import type { Actor } from '../../src/contract/storage/index.ts';
import { exchange, tokenOf } from '../issuer/support.ts';
import { faultsOf, openPage, views, withChromium } from '../support/browser.ts';
import { password } from './support/site.ts';
import { engine, openWorkplace, operator, type Workplace } from './support/workplace.ts';

const email = 'ada@acme.example';

withChromium((launch) => {
  describe('in a browser, an organization', () => {
    let browser: Browser;
    let place: Workplace;
    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser.close());
    beforeEach(async () => {
      place = await openWorkplace();
      await place.site.person(email, [[place.organization, 'admin']]);
    });
    afterEach(async () => {
      for (const context of browser.contexts()) await context.close();
      await place.close();
    });

    const signIn = async (page: Page, path: string): Promise<void> => {
      await page.goto(`${place.site.authUrl}${path}`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`**${path}`);
    };

    const shownSecret = async (page: Page): Promise<string> => (await page.textContent('#client-secret')) ?? '';

    it.each([true, false])(
      'makes, rotates, retires and revokes a key, with scripts allowed: %s',
      async (javaScript) => {
        const page = await openPage(browser, { javaScript });
        await signIn(page, '/integrations/api-keys');
        await page.getByLabel('Name', { exact: true }).fill('Nightly report');
        await page.getByRole('checkbox', { name: /telemetry:read/ }).check();
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.waitForURL('**/integrations/api-keys/ak_*');
        const first = await shownSecret(page);
        const clientId = (await page.textContent('#client-id')) ?? '';
        const token = async (clientSecret: string): Promise<string> =>
          tokenOf(await exchange(place.site.authUrl, { clientId, clientSecret }));
        const old = await token(first);

        // Neither reloading nor coming back loses it, or makes a second key.
        await page.reload();
        expect(await shownSecret(page)).toBe(first);
        await page.goto(`${place.site.authUrl}/members`);
        await page.goBack();
        expect(await shownSecret(page)).toBe(first);
        await page.getByRole('button', { name: 'I have copied it' }).click();
        await page.getByRole('button', { name: 'Rotate' }).waitFor();
        expect(await page.content()).not.toContain(first);
        await page.goBack();
        expect(await page.content()).not.toContain(first);
        expect(await place.workspace.keys.list()).toHaveLength(1);

        await page.getByRole('button', { name: 'Rotate' }).click();
        await page.locator('#client-secret').waitFor();
        const second = await shownSecret(page);
        await page.getByRole('link', { name: 'Retire the older secret' }).click();
        await page.getByRole('button', { name: 'Retire the older secret' }).click();
        await page.waitForURL('**?done=retired');
        await expect(place.verify(old)).rejects.toMatchObject({ code: 'invalid_token' });

        const next = await token(second);
        await page.getByRole('link', { name: 'Revoke the key' }).click();
        await expect(place.verify(next)).resolves.toMatchObject({ subject: clientId });
        await page.getByRole('button', { name: 'Revoke the key' }).click();
        await page.waitForURL('**?done=revoked');
        await expect(place.verify(next)).rejects.toMatchObject({ code: 'invalid_token' });
      },
    );

    it('answers an incident that waits on the person, and sees the chat', async () => {
      const { key } = await place.workspace.incidents.create(
        {
          title: 'Checkout fails',
          severity: 'high',
          source: 'test',
          startedAt: new Date(),
          waitingOn: { party: 'human', name: email, reason: 'Roll back?' },
        },
        operator,
      );
      const page = await openPage(browser, { javaScript: false });
      await signIn(page, '/incidents');
      await page.getByRole('link', { name: 'Checkout fails' }).click();
      await page.getByRole('region', { name: 'This incident waits on you' }).waitFor();
      await page.getByLabel('Your message').fill('Yes, roll back');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.waitForURL('**/chats/chat_*');
      expect(await page.textContent('main')).toMatch(new RegExp(`${key}[\\s\\S]*Yes, roll back[\\s\\S]*at work`));
    });

    it.each(views)('has pages that are good to look at and to listen to: $name', async (view) => {
      const paths = await furnish();
      const page = await openPage(browser, view);
      await signIn(page, '/integrations/api-keys');
      const look = async (name: string) => {
        expect(await faultsOf(page, `pages-${name}-${view.name}`)).toEqual([]);
      };
      await look('api-keys');
      await page.getByLabel('Name', { exact: true }).fill('A key for the nightly report');
      await page.getByRole('checkbox', { name: /telemetry:read/ }).check();
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.waitForURL('**/integrations/api-keys/ak_*');
      await look('api-key-made');
      for (const [name, path] of Object.entries(paths)) {
        await page.goto(`${place.site.authUrl}${path}`);
        await look(name);
      }
    });

    /** One of everything, with long words in it. */
    async function furnish(): Promise<Readonly<Record<string, string>>> {
      const { workspace, site } = place;
      const [ada] = (await workspace.members.list()).map(({ user }) => user);
      if (ada === undefined) throw new Error('there is nobody');
      const author: Actor = { kind: 'user', id: ada.id, name: ada.email };
      const long = 'a-service-with-a-name-that-is-long-enough-to-need-more-than-one-line.in-production.example.com';
      const incident = await workspace.incidents.create(
        {
          title: `PaymentServiceCheckoutErrorRateAboveFivePercentInProduction, ${long}`,
          summary: 'One in three payments is declined.',
          severity: 'critical',
          source: 'test',
          startedAt: new Date(),
          services: [long, 'checkout'],
          waitingOn: { party: 'human', name: email, reason: 'Roll the release back?' },
          document: `# Seen\n\n| a | b |\n|---|---|\n| \`${long}\` | **2** |\n\n\`\`\`sql\nSELECT '${long}' FROM otel.spans WHERE service = '${long}'\n\`\`\`\n\n- one\n  - [two](https://wiki.example/${long})\n\n> quoted`,
          alerts: [
            {
              fingerprint: 'a',
              title: long,
              status: 'firing',
              severity: 'high',
              startsAt: new Date(),
              labels: { long },
            },
          ],
        },
        operator,
      );
      const asked = { title: `Why does ${long} fail?`, message: 'Why?', author, engine, incidentId: incident.id };
      const { chat } = await workspace.chats.start(asked);
      const [investigation] = await workspace.investigations.ofChat(chat.id);
      if (investigation === undefined) throw new Error('nothing was queued');
      await workspace.investigations.addStep(investigation.id, {
        seq: 1,
        evidence_id: 'E1',
        question: 'Did errors rise?',
        sql: `SELECT count(*) FROM otel.spans WHERE service = '${long}'`,
        dialect: 'duckdb',
        window: { start: '2026-11-01T00:00:00Z', end: '2026-11-01T01:00:00Z' },
        columns: ['service', 'errors'],
        rows: [[long, 12]],
        row_count: 1,
        observation: `Errors of \`${long}\` rose.`,
        verdict: 'supports',
        elapsed_ms: 4,
        recorded_at: '2026-11-01T01:00:00Z',
      });
      await workspace.investigations.finish(investigation.id, {
        status: 'completed',
        message: `**Errors** of \`${long}\` rose since 14:00.`,
        author: { kind: 'agent', id: engine, name: 'agent' },
        parts: [
          { type: 'finding', evidence_id: 'E1', text: `Errors of \`${long}\` rose` },
          { type: 'query', evidence_id: 'E1', sql: `SELECT '${long}'` },
        ],
        conclusion: {
          root_cause: `A release of \`${long}\``,
          category: 'release',
          service: long,
          confidence: 'high',
          claims: [{ text: `Errors of \`${long}\` rose`, status: 'supported', evidence_ids: ['E1'] }],
        },
      });
      await workspace.incidents.update(
        incident.id,
        { waitingOn: { party: 'human', name: email, reason: 'Roll the release back?' } },
        operator,
      );
      const grant = newId('gra');
      await workspace.grants.create({
        id: grant,
        userId: ada.id,
        clientId: 'c',
        clientName: `Editor ${long}`,
        redirectOrigin: `https://${long}`,
        scopes: ['telemetry:read', 'incidents:read', 'chats:read', 'chats:write'],
      });
      const { invitation } = await site.people.invite({
        organizationId: place.organization.id,
        email: `somebody@${long}`,
        role: 'member',
        actor: operator,
      });
      const scimToken = await site.scimTokens.create(place.organization.id, operator);
      return {
        incidents: '/incidents',
        incident: `/incidents/${incident.key}`,
        evidence: `/incidents/${incident.key}/evidence`,
        chats: '/chats',
        chat: `/chats/${chat.id}`,
        'chat-new': `/chats/new?incident=${incident.key}`,
        members: '/members',
        'member-remove': `/members/${ada.id}/remove`,
        invitation: `/members/invitations/${invitation.id}`,
        telemetry: '/integrations/telemetry',
        'telemetry-rotate': '/integrations/telemetry/rotate',
        alerts: '/integrations/alerts',
        provisioning: '/integrations/provisioning',
        'provisioning-end': `/integrations/provisioning/${scimToken.id}/end`,
        applications: '/integrations/applications',
        'application-revoke': `/integrations/applications/${grant}/revoke`,
      };
    }
  });
});
