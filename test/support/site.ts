import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import { openPage, type Seen } from './browser.ts';
import { removeDirectory, sightlineJson, startGateway, temporaryDirectory, type RunningGateway } from './gateway.ts';
import { password } from './people.ts';

/** The organization of a first start. */
export const organization = 'default';

/** A gateway as it is after a first start, the demo shop's incident and chat in it, and a browser. */
export interface Site {
  readonly gateway: RunningGateway;
  readonly browser: Browser;
  /** A link with which a new account sets its password, as an operator hands it out. */
  passwordLink(email: string, role?: 'admin' | 'member'): Promise<string>;
  /** A page where a new account is signed in. */
  signedIn(email: string, how?: Partial<Seen>): Promise<Page>;
  /** The status that a call with this token is answered with. */
  answer(token: string): Promise<number>;
  close(): Promise<void>;
}

export async function openSite(launch: () => Promise<Browser>): Promise<Site> {
  const directory = await temporaryDirectory();
  const gateway = await startGateway(directory, { args: [] });
  const browser = await launch();
  await demoIsThere(gateway);
  const passwordLink: Site['passwordLink'] = async (email, role = 'admin') => {
    const args = ['user', 'create', '--email', email, '--org', organization, '--role', role];
    return (await sightlineJson(directory, args, z.object({ password_url: z.string() }))).password_url;
  };
  return {
    gateway,
    browser,
    passwordLink,
    async signedIn(email, how) {
      const page = await openPage(browser, how);
      await page.goto(await passwordLink(email));
      await page.getByLabel('New password').fill(password);
      await page.getByRole('button', { name: 'Set password' }).click();
      await page.waitForURL('**/incidents');
      return page;
    },
    async answer(token) {
      const { status } = await fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      });
      return status;
    },
    async close() {
      await browser.close();
      await gateway.stop();
      await removeDirectory(directory);
    },
  };
}

/** Its chat is started last, and said then. */
async function demoIsThere(gateway: RunningGateway): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (gateway.output().includes('which the agent is looking into')) return;
    await delay(100);
  }
  throw new Error(`the demo shop has no incident after 60 s:\n${gateway.output()}`);
}
