import { chromium, type BrowserContext } from 'playwright-core';
import { z } from 'zod';
import { findChromium, launchOptions } from '../../support/chromium.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  startGateway,
  temporaryDirectory,
  type Credentials,
} from '../../support/gateway.ts';
import { createPerson, password } from '../../support/people.ts';
import { statement } from '../course.ts';
import type { Reference } from './course.ts';
import { startModel, type Model } from './models/server.ts';

const email = 'zoo@example.com';
const organization = 'default';

/** What all clients meet: a gateway with the demo, a model, a key, and a person at a browser. */
export interface Place {
  readonly url: string;
  readonly dataDirectory: string;
  readonly key: Credentials;
  readonly model: Model;
  readonly reference: Reference;
  token(): Promise<string>;
  /** Opens the page that a client asks for, signs in there, and allows it. Absent where there is no Chromium. */
  readonly allow?: (url: string) => Promise<void>;
  close(): Promise<void>;
}

export async function openPlace(): Promise<Place> {
  const directory = await temporaryDirectory();
  const gateway = await startGateway(directory, { args: [] });
  const model = await startModel();
  const key = await createKey(directory, organization);
  const url = `${gateway.url}/mcp`;
  const token = (): Promise<string> => exchange(gateway.url, key);
  const executablePath = findChromium();
  const browser = executablePath === undefined ? undefined : await chromium.launch(launchOptions(executablePath));
  if (browser) await createPerson(gateway, { email, organization, role: 'admin' });
  const context = await browser?.newContext();
  return {
    url,
    dataDirectory: directory,
    key,
    model,
    reference: await referenceAt(url, await token()),
    token,
    ...(context && { allow: (wanted: string) => allowIn(context, wanted) }),
    async close() {
      await browser?.close();
      await model.stop();
      await gateway.stop();
      await removeDirectory(directory);
    },
  };
}

async function allowIn(context: BrowserContext, wanted: string): Promise<void> {
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(wanted);
  if (page.url().includes('/sign-in')) {
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/consent/*');
  }
  const allow = page.getByRole('button', { name: 'Allow' });
  if (!page.url().includes('/consent/')) throw new Error(`no page to allow a client: ${await page.innerText('body')}`);
  await allow.click();
  await page.waitForURL((url) => !url.pathname.includes('/consent/') && !url.pathname.includes('/oauth2/'));
  await page.close();
}

const listed = z.object({
  tools: z.array(
    z.looseObject({
      name: z.string(),
      inputSchema: z.looseObject({ properties: z.record(z.string(), z.looseObject({ description: z.string() })) }),
    }),
  ),
});
const queried = z.object({
  structuredContent: z.object({
    columns: z.array(z.looseObject({ name: z.string() })),
    rows: z.array(z.array(z.unknown())),
  }),
});

async function referenceAt(url: string, token: string): Promise<Reference> {
  const call = async (method: string, params: object): Promise<unknown> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return z.object({ result: z.unknown() }).parse(await response.json()).result;
  };
  const { tools } = listed.parse(await call('tools/list', {}));
  const manual = tools.find(({ name }) => name === 'query_otel')?.inputSchema.properties['sql']?.description ?? '';
  const sent = { name: 'query_otel', arguments: { sql: statement, max_bytes: 200_000 } };
  const { columns, rows } = queried.parse(await call('tools/call', sent)).structuredContent;
  const at = columns.findIndex(({ name }) => name === 'span_id');
  return { manual, spans: rows.map((row) => String(row[at])) };
}
