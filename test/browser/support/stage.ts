import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Frame, Page } from 'playwright-core';
import { openPage, type View } from '../../support/browser.ts';
import { root, temporaryDirectory } from '../../support/gateway.ts';
import { listen } from '../../support/listen.ts';

const run = promisify(execFile);

export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** As a host hands it to a view. */
export interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: unknown;
}

/** A page that shows a view as a host does, in a frame of an origin of its own. */
export interface Stage {
  readonly page: Page;
  readonly frame: Frame;
  /** Of the view, in order. */
  readonly calls: readonly Call[];
  /** Requests other than the host's own, errors, dialogs, what a content policy refused. */
  readonly problems: readonly string[];
  give(input: object, result: Result): Promise<void>;
  /** A method of the host page. */
  host(method: 'cancel' | 'context', argument?: object): Promise<void>;
  links(): Promise<unknown>;
  close(): Promise<void>;
}

export interface Theatre {
  show(html: string, how: Partial<View> & { answer?: (call: Call) => Promise<Result> }): Promise<Stage>;
  close(): void;
}

export async function openTheatre(browser: Browser): Promise<Theatre> {
  const directory = await temporaryDirectory();
  const file = join(directory, 'host.js');
  const bundler = join(root, 'node_modules/rolldown/bin/cli.mjs');
  const page = join(root, 'test/browser/support/host-page.js');
  await run(process.execPath, [bundler, page, '--format', 'iife', '--platform', 'browser', '--file', file]);
  const script = await readFile(file);
  await rm(directory, { recursive: true });
  const server = createServer((request, response) => {
    const isScript = request.url === '/host.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html; charset=utf-8' });
    response.end(isScript ? script : '<!doctype html><title>Host</title><script src="/host.js"></script><body>');
  });
  const origin = `http://127.0.0.1:${await listen(server)}`;
  return {
    show: (html, how) => show(browser, { origin, html, ...how }),
    close: () => void server.close(),
  };
}

async function show(
  browser: Browser,
  { origin, html, answer, ...how }: Parameters<Theatre['show']>[1] & { readonly origin: string; readonly html: string },
): Promise<Stage> {
  const page = await openPage(browser, { ...how, colorScheme: 'light' });
  const calls: Call[] = [];
  const problems: string[] = [];
  const own = new Set([`${origin}/`, `${origin}/host.js`, `${origin}/favicon.ico`, 'about:blank', 'about:srcdoc']);
  page.on('request', (request) => own.has(request.url()) || problems.push(`request: ${request.url()}`));
  page.on('pageerror', ({ message }) => problems.push(`error: ${message}`));
  page.on('dialog', (dialog) => void dialog.dismiss().then(() => problems.push(`dialog: ${dialog.message()}`)));
  page.on('console', (said) => said.type() === 'error' && problems.push(`console: ${said.text()}`));
  page.on('framenavigated', (frame) => own.has(frame.url()) || problems.push(`navigation: ${frame.url()}`));
  await page.exposeFunction('callTool', async (call: Call) => {
    calls.push(call);
    return (await answer?.(call)) ?? { content: [], isError: true };
  });
  await page.goto(origin);
  const host = (method: string, ...args: readonly unknown[]): Promise<unknown> =>
    page.evaluate(`host.${method}(${args.map((arg) => JSON.stringify(arg)).join(',')})`);
  await host('mount', html, { theme: how.colorScheme ?? 'light' });
  const frame = page.frames()[1];
  if (frame === undefined) throw new Error('the host shows no frame');
  return {
    page,
    frame,
    calls,
    problems,
    async give(input, result) {
      await host('give', input, result);
      // The view draws in the task in which the message comes; the next one of its frame is after that.
      await frame.evaluate('new Promise((resolve) => setTimeout(resolve))');
    },
    host: async (method, argument) => void (await host(method, argument ?? {})),
    async links() {
      // A click reaches the host by messages.
      for (let look = 0; look < 100 && (await page.evaluate('host.links.length')) === 0; look += 1) {
        await page.waitForTimeout(50);
      }
      return page.evaluate('host.links');
    },
    close: () => page.context().close(),
  };
}
