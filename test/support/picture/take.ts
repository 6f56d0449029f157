import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { z } from 'zod';
import { html, type Html } from '../../../src/web/html.ts';
import { callTool } from '../call.ts';
import { findChromium, launchOptions } from '../chromium.ts';
import {
  createKey,
  exchange,
  removeDirectory,
  root,
  sightlineJson,
  startGateway,
  temporaryDirectory,
  type RunningGateway,
} from '../gateway.ts';
import { password } from '../people.ts';
import { session } from './client.ts';
import { indexedPng } from './png.ts';

/*
 * docs/pictures: `npm run docs:picture` takes them of the demo. The page of its incident stands beside calls of a client
 * (incident-*), and as on a wide screen beside itself as on a phone (screens-*).
 */

const schemes = ['light', 'dark'] as const;
const size = { width: 1240, height: 860, page: 640 };
const scale = 1.5;

async function signIn(gateway: RunningGateway, context: BrowserContext): Promise<Page> {
  const args = ['user', 'create', '--email', 'ada@acme.example', '--org', 'default', '--role', 'admin'];
  const shape = z.object({ password_url: z.string() });
  const { password_url: link } = await sightlineJson(gateway.dataDirectory, args, shape);
  const page = await context.newPage();
  await page.goto(link);
  await page.getByLabel('New password').fill(password);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.waitForURL('**/incidents');
  return page;
}

async function investigated(url: string, token: string): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt += 1) {
    const { raw } = await callTool(url, token, 'read_incident', { incident_id: 'INC-1' });
    if (raw.includes('root_cause')) return;
    await delay(500);
  }
  throw new Error('The incident of the demo was not investigated within two minutes.');
}

function sideBySide(incident: Buffer, client: Html, scheme: (typeof schemes)[number]): Html {
  const [background, text, dim, accent] =
    scheme === 'light' ? ['#ffffff', '#1f2328', '#59636e', '#0969da'] : ['#0d1117', '#e6edf3', '#9198a1', '#4493f8'];
  return html`<!doctype html>
    <style>
      * {
        box-sizing: border-box;
        margin: 0;
      }
      body {
        width: ${size.width}px;
        height: ${size.height}px;
        display: flex;
        overflow: hidden;
        background: ${background};
        color: ${text};
        font:
          15px/1.45 system-ui,
          sans-serif;
        border: 1px solid ${dim};
      }
      img {
        width: ${size.page}px;
        height: ${size.height}px;
        border-right: 1px solid ${dim};
      }
      main {
        flex: 1;
        padding: 22px 24px;
      }
      h2 {
        font: 600 15px/1.4 monospace;
        color: ${accent};
        margin: 20px 0 8px;
      }
      h2:first-child {
        margin-top: 0;
      }
      h2 small {
        color: ${dim};
        font-weight: 400;
      }
      pre {
        font: 14px/1.45 monospace;
      }
      pre.sql {
        color: ${dim};
        margin-bottom: 8px;
      }
      ul {
        padding-left: 20px;
        margin-top: 8px;
      }
      i {
        color: ${dim};
      }</style
    ><img src="data:image/png;base64,${incident.toString('base64')}" />
    <main>${client}</main>`;
}

const screens = [
  { width: 1280, height: 860 },
  { width: 360, height: 860 },
] as const;

/** The same page on each of the screens. */
async function onScreens(page: Page, scheme: (typeof schemes)[number]): Promise<Html> {
  const shots = [];
  for (const screen of screens) {
    await page.setViewportSize(screen);
    await page.evaluate('scrollTo(0, 0)');
    shots.push(await page.screenshot());
  }
  return html`<!doctype html>
    <style>
      body {
        margin: 0;
        display: flex;
        gap: 20px;
        background: ${scheme === 'light' ? '#d1d9e0' : '#3d444d'};
      }
    </style>
    ${shots.map((shot, at) => html`<img width="${screens[at]?.width}" src="data:image/png;base64,${shot.toString('base64')}" />`)}`;
}

async function pixels(page: Page, png: Buffer): Promise<Buffer> {
  const read = `(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    let text = '';
    for (let at = 0; at < data.length; at += 30_000) text += String.fromCharCode(...data.subarray(at, at + 30_000));
    return btoa(text);
  })()`;
  return Buffer.from(z.string().parse(await page.evaluate(read)), 'base64');
}

async function save(
  context: BrowserContext,
  name: string,
  { width, height }: { readonly width: number; readonly height: number },
  content: Html,
): Promise<void> {
  const blank = await context.newPage();
  await blank.setViewportSize({ width, height });
  await blank.setContent(content.toString(), { waitUntil: 'load' });
  const png = indexedPng(await pixels(blank, await blank.screenshot()), width * scale, height * scale);
  await writeFile(join(root, 'docs/pictures', `${name}.png`), png);
  process.stdout.write(`docs/pictures/${name}.png: ${png.length} bytes\n`);
  await blank.close();
}

async function take(browser: Browser, gateway: RunningGateway): Promise<void> {
  const token = await exchange(gateway.url, await createKey(gateway.dataDirectory, 'default'));
  await investigated(gateway.url, token);
  const client = await session(gateway.url, token);
  const viewport = { width: size.page, height: size.height };
  const context = await browser.newContext({ viewport, deviceScaleFactor: scale });
  const page = await signIn(gateway, context);
  await mkdir(join(root, 'docs/pictures'), { recursive: true });
  for (const scheme of schemes) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${gateway.url}/incidents/INC-1`);
    await page.evaluate("scrollTo(0, document.querySelector('h1').getBoundingClientRect().top - 20)");
    const incident = await page.screenshot();
    await save(context, `incident-${scheme}`, size, sideBySide(incident, client, scheme));
    const wide = { width: screens[0].width + screens[1].width + 20, height: screens[0].height };
    await save(context, `screens-${scheme}`, wide, await onScreens(page, scheme));
  }
}

const executablePath = findChromium();
if (executablePath === undefined) throw new Error('There is no Chromium: name one in CHROMIUM_PATH.');
const directory = await temporaryDirectory();
const gateway = await startGateway(directory, { args: [] });
const browser = await chromium.launch(launchOptions(executablePath));
try {
  await take(browser, gateway);
} finally {
  await browser.close();
  await gateway.stop();
  await removeDirectory(directory);
}
