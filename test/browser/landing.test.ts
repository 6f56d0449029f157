import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import {
  accessibilityFindings,
  openPage,
  screenshot,
  sidewaysScroll,
  views,
  withChromium,
} from '../support/browser.ts';
import { removeDirectory, startGateway, temporaryDirectory } from '../support/gateway.ts';
import type { RunningGateway } from '../support/gateway.ts';

withChromium((launch) => {
  describe('the landing page', () => {
    let browser: Browser;
    let gateway: RunningGateway;

    beforeAll(async () => {
      gateway = await startGateway(await temporaryDirectory());
      browser = await launch();
    }, 60_000);

    afterAll(async () => {
      await browser.close();
      await gateway.stop();
      await removeDirectory(gateway.dataDirectory);
    });

    it.each(views)('is for everybody: $name', async (view) => {
      const page = await openPage(browser, view);
      await page.goto(gateway.url);
      await screenshot(page, `landing-${view.name}`);
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(await sidewaysScroll(page)).toBe(0);
    });
  });
});
