import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { faultsOf, views, withChromium } from '../support/browser.ts';
import { openSite, type Site } from '../support/site.ts';

const course = `SELECT service_name, count(*) AS spans FROM otel.spans GROUP BY service_name ORDER BY spans DESC`;
const failed = `SELECT time, trace_id, name, attributes FROM otel.spans WHERE status_code = 'ERROR' ORDER BY time DESC LIMIT 20`;

withChromium((launch) => {
  describe('telemetry in a browser', () => {
    let site: Site;
    beforeAll(async () => {
      site = await openSite(launch);
    }, 180_000);
    afterAll(() => site.close());

    async function run(page: Page, sql: string): Promise<void> {
      await page.getByRole('textbox', { name: 'SQL' }).fill(sql);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('heading', { name: 'Result' }).waitFor();
    }

    it.each(views)(
      'is asked, drawn and followed to a trace, by everybody: $name',
      async (view) => {
        const page = await site.signedIn(`view-${view.name}@acme.example`, view);
        const findings: string[] = [];
        const look = async (name: string): Promise<void> => {
          findings.push(...(await faultsOf(page, `${name}-${view.name}`)));
        };
        await page.getByRole('link', { name: 'Explore' }).click();
        await run(page, course);
        expect(await page.getByRole('img', { name: 'spans by service_name' }).count()).toBe(1);
        await look('explore-bars');
        await run(page, failed);
        await look('explore-rows');
        await page.getByRole('group', { name: 'Rows' }).getByRole('link').first().click();
        await page.getByRole('img', { name: 'Spans' }).waitFor();
        await look('explore-trace');
        await page.getByRole('link', { name: 'Telemetry', exact: true }).click();
        await page.getByRole('group', { name: 'Services that sent' }).waitFor();
        await look('telemetry-counted');
        expect(findings).toEqual([]);
        await page.context().close();
      },
      120_000,
    );

    it('needs no script, and no pointer', async () => {
      const page = await site.signedIn('keys@acme.example', { javaScript: false });
      await page.goto(`${site.gateway.url}/explore`);
      const sql = page.getByRole('textbox', { name: 'SQL' });
      await sql.focus();
      await page.keyboard.type('SELECT 6 * 7 AS answer');
      for (let press = 0; press < 3; press += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('rowheader', { name: '42' }).waitFor();
      await page.context().close();
    }, 60_000);

    it('opens the query of a piece of evidence, and runs it once the person says so', async () => {
      const page = await site.signedIn('evidence@acme.example');
      const steps = page.getByRole('link', { name: /^Open this query/ });
      for (let wait = 0; wait < 120 && (await steps.count()) === 0; wait += 1) {
        await page.waitForTimeout(500);
        await page.goto(`${site.gateway.url}/incidents/INC-1/evidence`);
        await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`);
      }
      const links = z
        .array(z.string())
        .parse(await steps.evaluateAll((found) => found.map((one) => one.getAttribute('href'))));
      expect(links.length).toBeGreaterThan(5);
      for (const link of links) {
        await page.goto(`${site.gateway.url}${link}`);
        expect(await page.getByRole('heading', { name: 'Result' }).count()).toBe(0);
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.getByRole('heading', { name: /^(?:Result|No result)$/ }).waitFor();
        expect([link, await page.getByRole('heading', { name: 'Result' }).count()]).toEqual([link, 1]);
      }
      await page.goto(`${site.gateway.url}/incidents/INC-1`);
      await page.getByRole('link', { name: 'Open the trace' }).first().click();
      await page.getByRole('img', { name: 'Spans' }).waitFor();
      await page.context().close();
    }, 180_000);
  });
});
