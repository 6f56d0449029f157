import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { callTool } from '../support/call.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  sightline,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../support/gateway.ts';
import { createPerson } from '../support/people.ts';
import { readable, type Page, type Person } from '../support/person.ts';

/* Telemetry at pages, from outside: a gateway with the embedded engine, and people at browsers without script. */

const hostile = `<img src=x onerror=alert(1)>"'</td><script>alert(2)</script>`;
const traceId = '0af7651916cd43dd8448eb211c80319c';
const canary = 'globex-canary';
const rate = 60;

const config = {
  limits: { toolCallsPerMinute: { query_otel: rate } },
  audit: { statements: true },
  governance: { rules: [{ roles: ['member'], columns: ['status_message'], action: 'deny' }] },
};

const record = z.object({
  organization: z.string(),
  event: z.string(),
  subject: z.string().optional(),
  target: z.string().optional(),
  outcome: z.string().optional(),
  statement: z.string().optional(),
});

describe('telemetry at pages', () => {
  let directory = '';
  let gateway: RunningGateway;
  let ada: Person;
  let mia: Person;
  let glen: Person;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const file = join(directory, 'sightline.config.json');
    await writeFile(file, JSON.stringify(config));
    gateway = await startGateway(directory, { args: ['--no-demo', '--config', file] });
    ada = await createPerson(gateway, { email: 'ada@acme.example', organization: 'Acme', role: 'admin' });
    mia = await createPerson(gateway, { email: 'mia@acme.example', organization: 'Acme', role: 'member' });
    glen = await createPerson(gateway, { email: 'glen@globex.example', organization: 'Globex', role: 'admin' });
  }, 240_000);

  afterAll(async () => {
    await gateway.stop();
    await removeDirectory(directory);
  });

  const run = async (person: Person, sql: string, more: Record<string, string> = {}): Promise<Page> =>
    person.press(await person.open('/explore'), 'Run', { sql, ...more });

  const get = (person: Person | undefined, path: string, site?: string): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        ...(person && { cookie: person.cookies }),
        ...(site !== undefined && { 'sec-fetch-site': site }),
      },
    });

  /** What the audit has of calls of query_otel, of all organizations. */
  async function calls(): Promise<readonly z.output<typeof record>[]> {
    const file = join(directory, 'audit.jsonl');
    await rm(file, { force: true });
    const { code, stderr } = await sightline(directory, ['audit', 'export', file]);
    if (code !== 0) throw new Error(stderr);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    return lines
      .map((line): unknown => JSON.parse(line))
      .flatMap((line) => record.safeParse(line).data ?? [])
      .filter(({ event, target }) => event === 'tool.call' && target === 'query_otel');
  }

  async function send(organization: string, services: readonly (readonly [service: string, name: string])[]) {
    const { token } = await sightlineJson(
      directory,
      ['ingest', 'show', '--org', organization],
      z.object({ token: z.string() }),
    );
    const now = Date.now();
    const spans = (name: string, at: number) => [
      {
        traceId,
        spanId: `00f067aa0ba902b${at}`,
        name,
        kind: 2,
        startTimeUnixNano: `${now - 5_000}000000`,
        endTimeUnixNano: `${now - 4_000}000000`,
        status: { code: 2, message: hostile },
      },
    ];
    const resourceSpans = services.map(([service, name], at) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [{ spans: spans(name, at) }],
    }));
    const response = await fetch(`${gateway.url}/v1/traces`, {
      method: 'POST',
      headers: { 'x-api-key': token, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans }),
    });
    expect(response.status).toBe(200);
  }

  it('guides who has sent nothing yet to the first span, and is no error', async () => {
    const page = await ada.open('/telemetry');
    expect(page.status).toBe(200);
    const text = readable(page.html);
    for (const said of ['Nothing has come in yet.', 'Send the first span', 'OTEL_EXPORTER_OTLP_HEADERS=x-api-key=']) {
      expect(text).toContain(said);
    }
    expect(text).not.toContain('No result');
  });

  it('shows rows as text, and nothing of another organization', async () => {
    await send('Acme', [
      ['cart', hostile],
      [hostile, 'GET /'],
    ]);
    await send('Globex', [[canary, canary]]);
    const sql = 'SELECT service_name, name, trace_id FROM otel.spans ORDER BY service_name';
    const shown = async (person: Person, count: string): Promise<Page> => {
      for (let attempt = 0; attempt < 30; attempt += 1) {
        const page = await run(person, sql);
        if (readable(page.html).includes(count)) return page;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      throw new Error(`no page with ${count}`);
    };
    const page = await shown(ada, '2 rows');
    expect(page.status).toBe(200);
    expect(readable(page.html)).toContain(hostile);
    expect(page.html).not.toMatch(/<img[^>]+onerror|<script>/);
    expect(page.html).not.toContain(canary);
    expect(readable((await shown(glen, '1 row')).html)).toContain(canary);
    const other = await run(glen, `SELECT count(*) AS cart FROM otel.spans WHERE service_name = 'cart'`);
    expect(readable(other.html)).toMatch(/cart \w+ 0 /);
  }, 60_000);

  it('leads from a trace id to the trace, whose every text is text', async () => {
    const page = await run(ada, 'SELECT trace_id FROM otel.spans LIMIT 1');
    const link = /href="([^"]*\/explore\/traces\/[^"]*)"/.exec(page.html)?.[1] ?? '';
    expect(link).toContain(traceId);
    const trace = await ada.open(link.replaceAll('&#38;', '&'));
    expect(readable(trace.html)).toContain('2 spans of 2 services');
    expect(trace.html).not.toMatch(/<img[^>]+onerror|<script>/);
    expect(trace.html).not.toContain(canary);
    const typed = await ada.open(`/explore/traces?id=%20${traceId.toUpperCase()}`);
    expect(typed.url.pathname).toBe(`/explore/traces/${traceId}`);
    expect((await ada.open("/explore/traces/x'--")).status).toBe(404);
  });

  it('counts by service what came in, with how soon it could be queried', async () => {
    let text = '';
    // Arrivals are written down every five seconds.
    for (let attempt = 0; attempt < 30 && !text.includes('Telemetry last came in'); attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      text = readable((await ada.open('/telemetry')).html);
      expect(text).not.toContain('Nothing has come in');
    }
    expect(text).toMatch(/Telemetry last came in .* What came in could be queried \d+\.\d s later\./);
    expect(text).toMatch(/cart 1 0 0 \d{4}-/);
    expect(text).not.toContain(canary);
    expect(text).not.toContain('Send the first span');
  }, 30_000);

  it('runs nothing for a link, a prefetch or another site, and one statement for each press of the button', async () => {
    const before = (await calls()).length;
    const link = `/explore?${new URLSearchParams({ sql: 'SELECT 41 + 1' }).toString()}`;
    for (const site of ['same-origin', 'cross-site', 'none', undefined]) {
      const page = await get(ada, link, site);
      const text = await page.text();
      expect([site, page.status, text.includes('SELECT 41 + 1</textarea>')]).toEqual([site, 200, true]);
    }
    for (const path of ['/telemetry', `/explore/traces/${traceId}`]) {
      for (const site of ['cross-site', 'same-site', 'none', undefined]) {
        expect((await get(ada, path, site)).status).toBe(200);
      }
    }
    const forged = await fetch(`${gateway.url}/explore`, {
      method: 'POST',
      headers: { cookie: ada.cookies, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'sql=SELECT+1',
    });
    expect(forged.status).toBe(403);
    expect((await calls()).length).toBe(before);

    expect(readable((await run(ada, 'SELECT 41 + 1 AS answer')).html)).toMatch(/answer \w+ 42 /);
    await run(ada, 'SELECT nothing FROM otel.spans');
    const after = await calls();
    expect(after.length).toBe(before + 2);
    const made = after.filter(({ statement }) => /answer|nothing/.test(statement ?? ''));
    expect(made.map(({ outcome, statement }) => [outcome, statement])).toEqual([
      ['ok', 'SELECT 41 + 1 AS answer'],
      ['unknown_column', 'SELECT nothing FROM otel.spans'],
    ]);
    expect(made.every(({ subject }) => subject?.startsWith('usr_'))).toBe(true);
  });

  it('says what is wrong and offers what the tool offers, with its status', async () => {
    const page = await run(ada, 'SELECT servce_name FROM otel.spans');
    expect(page.status).toBe(400);
    expect(readable(page.html)).toContain('There is no column "servce_name". Did you mean service_name');
    const mended = await ada.press(page, 'Run this instead');
    expect([mended.status, /2 rows,.* service_name \w+ /.test(readable(mended.html))]).toEqual([200, true]);
    expect((await run(ada, 'DROP TABLE otel.spans')).status).toBe(400);
    expect(readable((await run(ada, 'SELECT 1', { start: 'soon' })).html)).toContain('start is not a time');
  });

  it('reads on in what was cut, and filters it', async () => {
    const page = await run(ada, 'SELECT n AS number FROM generate_series(1, 700) AS s(n)');
    expect(readable(page.html)).toContain('The result was cut (rows).');
    const next = await ada.press(page, 'Next rows');
    expect(readable(next.html)).toContain('200 rows, from row 501 on');
    const filtered = await ada.press(next, 'From the first row', { contains: '699' });
    expect(readable(filtered.html)).toMatch(/1 row\b.*number \w+ 699 /);
  });

  it('finds attributes, and takes no SQL in their place', async () => {
    const page = await ada.press(await ada.open('/explore'), 'Find attributes', { table: 'spans', like: "serv'ice" });
    expect(page.status).toBe(200);
    expect(readable(page.html)).toContain("SHOW ATTRIBUTES FROM otel.spans LIKE '%serv''ice%'");
  });

  it('keeps to the rules that hold for the role', async () => {
    const sql = 'SELECT status_message FROM otel.spans';
    expect((await run(ada, sql)).status).toBe(200);
    expect((await run(mia, sql)).status).toBe(400);
  });

  it('remembers what was asked in this browser alone, of this organization', async () => {
    const asked = 'SELECT 7 AS remembered';
    await run(ada, asked);
    expect(readable((await ada.open('/explore')).html)).toContain(asked);
    for (const other of [mia, glen]) expect(readable((await other.open('/explore')).html)).not.toContain(asked);
  });

  it('lets nobody in who is not signed in', async () => {
    for (const path of ['/explore', `/explore/traces/${traceId}`, '/telemetry']) {
      const page = await get(undefined, path, 'same-origin');
      expect([path, page.status, page.headers.get('location')]).toEqual([
        path,
        303,
        expect.stringMatching(/\/sign-in\?return_to=/),
      ]);
    }
  });

  it('counts at the rate of the tool, together with what clients call', async () => {
    const token = await exchange(gateway.url, await createKey(directory, 'Acme'));
    let left = rate;
    while (left > 0 && (await callTool(gateway.url, token, 'query_otel', { sql: 'SELECT 1' })).status === 200)
      left -= 1;
    const page = await run(ada, 'SELECT 1');
    expect([page.status, readable(page.html).includes('There are too many requests. Wait ')]).toEqual([429, true]);
    expect((await run(glen, 'SELECT 1')).status).toBe(200);
  }, 60_000);
});
