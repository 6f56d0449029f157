import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { viewHtml } from '../../src/web/view-file.ts';
import { accessibilityFindings, screenshot, sidewaysScroll, views, withChromium } from '../support/browser.ts';
import { createKey, exchange } from '../support/gateway.ts';
import { openSite, organization, type Site } from '../support/site.ts';
import { openTheatre, type Result, type Stage, type Theatre } from './support/stage.ts';
import {
  fallback,
  pointsOf,
  queried,
  resultOf,
  samples,
  spanNames,
  spansOf,
  spoiled,
  withTexts,
} from './support/view-results.ts';
import { corpus } from './support/xss.ts';

const info = { name: 'host', version: '1' };
const callResult = z.object({
  isError: z.boolean().default(false),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.unknown(),
});
const listed = z.array(z.looseObject({ name: z.string(), _meta: z.looseObject({}).optional() }));

interface Host {
  call(name: string, args: object): Promise<Result>;
  /** The view, as the host of a tool with one reads it. */
  view(): Promise<string>;
  close(): Promise<void>;
}

/** An official client of each era, as a host has one. */
const hosts = {
  async '2025-11-25'(url: string, token: string): Promise<Host> {
    const client = new ClientV1(info);
    await client.connect(
      new TransportV1(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    );
    return {
      call: async (name, args) => callResult.parse(await client.callTool({ name, arguments: { ...args } })),
      async view() {
        const uri = uriOf(await client.listTools());
        return JSON.stringify((await client.readResource({ uri })).contents);
      },
      close: () => client.close(),
    };
  },
  async '2026-07-28'(url: string, token: string): Promise<Host> {
    const client = new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(
      new TransportV2(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
    );
    return {
      call: async (name, args) => callResult.parse(await client.callTool({ name, arguments: { ...args } })),
      async view() {
        const uri = uriOf(await client.listTools());
        return JSON.stringify((await client.readResource({ uri })).contents);
      },
      close: () => client.close(),
    };
  },
} as const;

function uriOf({ tools }: { readonly tools: unknown }): string {
  const shown = listed.parse(tools).map((tool) => getToolUiResourceUri({ _meta: tool._meta }));
  const [uri, ...others] = new Set(shown.filter((one) => one !== undefined));
  expect(others).toEqual([]);
  return z.string().parse(uri);
}

const contents = z.tuple([z.object({ text: z.string() })]);

withChromium((launch) => {
  let site: Site;
  let theatre: Theatre;
  let tokens: readonly [string, string];
  beforeAll(async () => {
    site = await openSite(launch);
    theatre = await openTheatre(site.browser);
    const { dataDirectory, url } = site.gateway;
    tokens = [
      await exchange(url, await createKey(dataDirectory, organization)),
      await exchange(url, await createKey(dataDirectory, 'globex')),
    ];
  }, 180_000);
  afterAll(async () => {
    theatre.close();
    await site.close();
  });

  /** Closed where it ran, and had no trouble. */
  async function on(how: Parameters<Theatre['show']>[1], play: (stage: Stage) => Promise<void>): Promise<void> {
    const stage = await theatre.show(viewHtml, how);
    try {
      await play(stage);
      expect(stage.problems).toEqual([]);
    } finally {
      await stage.close();
    }
  }

  it('keeps its style where a host that writes its own policy ends the head early, as the inspector does', async () => {
    const shifted = viewHtml.replace('<title>', '</head><body><title>');
    const stage = await theatre.show(shifted, {});
    try {
      await stage.give({ sql: 'SELECT 1' }, resultOf(queried(['n'], [[1]])));
      await stage.frame.locator('main h1').waitFor();
      const family = await stage.frame.evaluate('getComputedStyle(document.body).fontFamily');
      expect(family).toMatch(/system-ui/);
    } finally {
      await stage.close();
    }
  });

  describe.each(['2025-11-25', '2026-07-28'] as const)('a host of %s', (era) => {
    let host: Host;
    let html: string;
    beforeAll(async () => {
      host = await hosts[era](`${site.gateway.url}/mcp`, tokens[0]);
      const read = await host.view();
      html = contents.parse(JSON.parse(read))[0].text;
      const other = await hosts[era](`${site.gateway.url}/mcp`, tokens[1]);
      expect(await other.view()).toBe(read);
      expect(html).toBe(viewHtml);
      await other.close();
    });
    afterAll(() => host.close());

    const play = (acts: (stage: Stage) => Promise<void>) =>
      on({ answer: ({ name, arguments: args }) => host.call(name, args) }, acts);

    it('shows rows that can be sorted, and more of them on a click', async () => {
      const sql = 'SELECT range AS n, md5(range::VARCHAR) AS hash FROM range(800)';
      await play(async ({ frame, calls, give }) => {
        await give({ sql }, await host.call('query_otel', { sql, max_rows: 120 }));
        const first = frame.locator('tbody tr').first();
        expect(await frame.locator('main').textContent()).toContain('120 rows, of more');
        expect(await frame.locator('tbody tr').count()).toBe(100);
        await frame.getByRole('button', { name: 'Load more rows' }).click();
        await frame.getByText('620 rows, of more').waitFor();
        await frame.getByRole('button', { name: 'Load more rows' }).click();
        await frame.getByText('800 rows').first().waitFor();
        await frame.getByRole('button', { name: 'n', exact: true }).click();
        await frame.getByRole('button', { name: 'n ▲' }).click();
        expect(await frame.locator('th').first().getAttribute('aria-sort')).toBe('descending');
        expect(await first.textContent()).toContain('799');
        await frame.getByRole('button', { name: 'Next' }).click();
        expect(await first.textContent()).toContain('699');
        expect(calls.map(({ name, arguments: args }) => [name, Object.keys(args)])).toEqual([
          ['query_otel', ['result_id', 'offset']],
          ['query_otel', ['result_id', 'offset']],
        ]);
      });
    }, 120_000);

    it('shows an incident with its pictures, and runs its evidence again', async () => {
      const found = await investigated(host);
      await play(async ({ frame, calls, give, page, links }) => {
        await give({}, found);
        await frame.getByText('Checkout error rate above 5 %').first().waitFor();
        expect(calls).toEqual([]);
        await frame.getByRole('button', { name: 'Show pictures' }).click();
        for (const title of ['Failing requests', 'Latency', 'Requests', 'Service map', 'Latency distribution']) {
          await frame.locator('figure', { hasText: title }).first().waitFor();
        }
        await frame.getByRole('button', { name: 'All evidence' }).click();
        const summary = frame.locator('summary', { hasText: 'Which operations fail more than before?' });
        const failing = frame.locator('details', { has: summary });
        await summary.click();
        const rows = failing.getByRole('button', { name: 'Rows and SQL' });
        if ((await rows.count()) > 0) await rows.click();
        await failing.getByRole('button', { name: 'Run again' }).click();
        await failing.getByText('As it is now').waitFor();
        const names = new Set(calls.map(({ name }) => name));
        expect([...names]).toEqual(['read_incident', 'query_otel']);
        await frame.getByRole('button', { name: 'Open its page' }).click();
        expect(await links()).toEqual([`${site.gateway.url}/incidents/INC-1`]);
        await page.setViewportSize({ width: 1280, height: 2_000 });
        await screenshot(page, `view-incident-${era}`);
      });
    }, 180_000);

    it('shows a chat, and waits for its answer on a click', async () => {
      const [{ id }] = z
        .object({ chats: z.tuple([z.object({ id: z.string() })]).rest(z.unknown()) })
        .parse((await host.call('list_chats', {})).structuredContent).chats;
      await play(async ({ frame, calls, give }) => {
        const whole = await host.call('read_chat', { chat_id: id });
        const read = z
          .looseObject({ chat: z.looseObject({}), messages: z.array(z.unknown()) })
          .parse(whole.structuredContent);
        // As it was before the answer.
        const before = { ...read, chat: { ...read.chat, status: 'running' }, messages: read.messages.slice(0, 1) };
        await give({}, { ...whole, structuredContent: before });
        await frame.getByText('The agent is at work').waitFor();
        await frame.getByRole('button', { name: 'Wait for the answer' }).click();
        await frame.getByText('The agent is at work').waitFor({ state: 'detached' });
        expect(await frame.locator('section').count()).toBe(read.messages.length);
        expect(calls).toEqual([
          { name: 'read_chat', arguments: { chat_id: id, wait_seconds: 20, after_message_id: expect.any(String) } },
        ]);
      });
    }, 120_000);
  });

  describe('the link of a result', () => {
    it('opens the page at the same place', async () => {
      const host = await hosts['2025-11-25'](`${site.gateway.url}/mcp`, tokens[0]);
      await investigated(host);
      const found = await host.call('read_incident', { incident_id: 'INC-1', evidence_id: 'e3' });
      const { incident } = z.object({ incident: z.object({ url: z.string() }) }).parse(found.structuredContent);
      await host.close();
      const page = await site.signedIn('links@acme.example', { height: 400 });
      await page.goto(incident.url);
      const top = await page.evaluate(`document.getElementById('E3').getBoundingClientRect().top`);
      expect(Math.abs(z.number().parse(top))).toBeLessThan(400);
      await page.context().close();
    }, 180_000);
  });

  describe('a view', () => {
    it.each(views)(
      'is for everybody: $name',
      async (view) => {
        const stage = await theatre.show(viewHtml, { ...view, height: 1_400 });
        for (const [name, sample] of Object.entries(samples)) {
          await stage.give({ sql: 'SELECT 1' }, resultOf(sample));
          for (const summary of await stage.frame.locator('summary').all()) await summary.click();
          expect([name, await accessibilityFindings(stage.frame)]).toEqual([name, []]);
          expect([name, await sidewaysScroll(stage.frame)]).toEqual([name, 0]);
          await screenshot(stage.page, `view-${name}-${view.name}`);
        }
        expect(stage.problems).toEqual([]);
        await stage.close();
      },
      120_000,
    );

    it('says so where there is no result yet, a failure, a call that was cancelled', () =>
      on({}, async ({ frame, give, host }) => {
        expect((await frame.locator('body').textContent())?.trim()).toBe('Waiting for the result…');
        const error = { code: 'unknown_column', message: 'There is no column nmae.', hint: 'Did you mean name?' };
        await give({}, { isError: true, content: [{ type: 'text', text: JSON.stringify(error) }] });
        expect(await frame.getByRole('alert').textContent()).toBe('There is no column nmae. Did you mean name?');
        await give({}, { content: [{ type: 'text', text: 'only text' }] });
        expect((await frame.locator('body').textContent())?.trim()).toBe('only text');
        await host('cancel');
        await frame.getByText('The call was cancelled.').waitFor();
      }));

    it('follows its host into the dark, and is as high as what it shows', () =>
      on({}, async ({ frame, page, give, host }) => {
        const color = () => frame.evaluate('getComputedStyle(document.body).backgroundColor');
        const light = await color();
        await host('context', { theme: 'dark' });
        await frame.locator('[data-theme=dark]').waitFor({ state: 'attached' });
        expect(await color()).not.toBe(light);
        const height = () => page.evaluate(`document.querySelector('iframe').clientHeight`);
        const inner = () => frame.evaluate('document.documentElement.scrollHeight');
        for (const sample of [samples['series'], samples['one'], samples['trace']]) {
          await give({}, resultOf(sample));
          await page.waitForFunction(
            `document.querySelector('iframe').clientHeight === ${String(await frame.evaluate('Math.ceil(document.documentElement.getBoundingClientRect().height)'))}`,
          );
          expect(await inner()).toBe(await height());
        }
      }));

    it('draws 10,000 rows and 5,000 spans as few elements', () =>
      on({}, async ({ frame, give }) => {
        const elements = () => frame.locator('*').count();
        await give({}, resultOf(queried(['time', 'value'], pointsOf(10_000))));
        expect(await frame.locator('figure').count()).toBe(1);
        expect(await frame.getByText('Rows 1 to 100 of 10000').count()).toBe(1);
        expect(await elements()).toBeLessThan(500);
        await frame.getByRole('button', { name: 'value', exact: true }).click();
        expect(await frame.locator('tbody tr').first().textContent()).toContain('100');
        await give({}, resultOf(queried(spanNames, spansOf(5_000))));
        expect(await frame.locator('figure').count()).toBe(1);
        expect(await elements()).toBeLessThan(3_500);
      }));

    it('keeps what cannot be called or opened to itself', () =>
      on({}, async ({ frame, give }) => {
        const { incident, ...rest } = z.looseObject({ incident: z.looseObject({}) }).parse(samples['incident']);
        await give({}, resultOf({ ...rest, incident: { ...incident, url: 'javascript:alert(1)' } }));
        expect(await frame.getByRole('button', { name: 'Open its page' }).count()).toBe(0);
      }));

    it(
      'runs nothing of what strangers wrote',
      () =>
        on({}, async ({ frame, give }) => {
          expect(corpus.length).toBeGreaterThanOrEqual(200);
          const kinds = Object.entries(samples);
          for (const [index, text] of corpus.entries()) {
            const [name, sample] = kinds[index % kinds.length] ?? [];
            // Where a text chooses the shape it stays, so that the shape is drawn.
            const keeps =
              /^(?:TIMESTAMP|BIGINT|VARCHAR|\d.*|running|[a-z_]*(?:id|time|nano|name|kind|status|status_code|status_message|spans|_before))$/;
            const hostile = withTexts(sample, (was) => (keeps.test(was) ? was : `${was} ${text}`));
            await give({ sql: text }, resultOf(hostile));
            await frame.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
            const strange = await frame.evaluate(`(() => {
            const kinds = 'script,img,iframe,object,embed,link,meta,form,input,a,animate,use,math,style,base';
            const found = [...document.body.querySelectorAll(kinds)];
            const acting = [...document.body.querySelectorAll('*')].filter((one) =>
              one.getAttributeNames().some((name) => /^on|^href|^src|^style/.test(name)));
            return [...found, ...acting].map((one) => one.outerHTML.slice(0, 200));
          })()`);
            expect([name, text, strange]).toEqual([name, text, []]);
          }
        }),
      120_000,
    );

    it(
      'throws nothing, whatever is missing or of another kind',
      () =>
        on({}, async ({ frame, give, problems }) => {
          let count = 0;
          for (const [name, sample] of Object.entries(samples)) {
            for (const given of spoiled(sample)) {
              if (typeof given !== 'object' || given === null || Array.isArray(given)) continue;
              count += 1;
              await give({}, resultOf(given));
              const shown = await frame.evaluate('document.body.textContent');
              expect([name, JSON.stringify(given), shown]).not.toEqual([name, JSON.stringify(given), fallback]);
            }
            expect([name, problems]).toEqual([name, []]);
          }
          expect(count).toBeGreaterThan(240);
        }),
      300_000,
    );
  });
});

/** The demo's incident, once the agent is done with it. */
async function investigated(host: Host): Promise<Result> {
  const state = z.object({ investigation: z.object({ status: z.string() }) });
  for (let wait = 0; wait < 240; wait += 1) {
    const found = await host.call('read_incident', { incident_id: 'INC-1' });
    const status = state.safeParse(found.structuredContent).data?.investigation.status;
    if (status === 'completed' || status === 'waiting') return found;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error('the agent is not done with the demo’s incident after two minutes');
}
