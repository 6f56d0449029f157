import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { openPage, withChromium } from '../support/browser.ts';
import { root } from '../support/gateway.ts';
import { listen } from '../support/listen.ts';
import { openReceiving, type Receiving } from '../support/senders.ts';

const run = promisify(execFile);
const app = 'https://app.example.com';

describe('senders in browsers', () => {
  let receiving: Receiving;
  let site: Server;
  let origin: string;

  beforeAll(async () => {
    let script = Buffer.alloc(0);
    site = createServer((request, response) => {
      const isScript = request.url === '/page.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? script : '<!doctype html><title>Shop</title><script src="/page.js"></script>');
    });
    origin = `http://127.0.0.1:${await listen(site)}`;
    receiving = await openReceiving({ cors: { origins: [app, origin] } });
    const file = join(receiving.directory, 'page.js');
    const bundler = join(root, 'node_modules/rolldown/bin/cli.mjs');
    const page = join(root, 'test/senders/page.js');
    await run(process.execPath, [bundler, page, '--format', 'iife', '--platform', 'browser', '--file', file]);
    script = await readFile(file);
  });

  afterAll(async () => {
    site.close();
    await receiving.close();
  });

  const send = (method: string, headers: Record<string, string>, path = '/v1/traces') =>
    fetch(receiving.gateway.url + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key,x-other' };

  it('answers a preflight of an origin that is named, with the headers that it asks for', async () => {
    const answer = await send('OPTIONS', { origin: app, ...preflight });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'x-api-key,x-other',
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
  });

  it('lets a page read every answer, refusals too', async () => {
    const json = { origin: app, 'content-type': 'application/json', 'x-api-key': receiving.token };
    const answers = [
      [200, await send('POST', json)],
      [401, await send('POST', { ...json, 'x-api-key': 'wrong' })],
      [404, await send('POST', json, '/v1/spans')],
      [415, await send('POST', { ...json, 'content-type': 'text/plain' })],
    ] as const;
    for (const [status, answer] of answers) {
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, app]);
      expect(answer.headers.get('access-control-expose-headers')).toBe('Retry-After');
    }
  });

  it('refuses the preflight of another origin, says where to name it, and gives its answers no headers', async () => {
    const refused = await send('OPTIONS', { origin: 'https://app.example.com.evil.example', ...preflight });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('ingest.cors.origins')]);
    const other = await send('POST', {
      origin: 'null',
      'content-type': 'application/json',
      'x-api-key': receiving.token,
    });
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });

  withChromium((launch) => {
    describe('the OpenTelemetry SDK in Chromium', () => {
      let browser: Browser;
      beforeAll(async () => {
        browser = await launch();
      });
      afterAll(() => browser.close());

      it('stores its spans', async () => {
        const page = await openPage(browser);
        await page.goto(origin);
        await page.evaluate(`sendSpan('${receiving.gateway.url}', '${receiving.token}')`);
        const sql = `SELECT name, service_name, attributes['page'], status_code FROM otel.spans`;
        expect(await receiving.rows(sql)).toEqual([['click', 'shop-web', '/cart', 'ERROR']]);
      });
    });
  });
});
