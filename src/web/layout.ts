import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { assets } from './assets.ts';
import { html, type Html } from './html.ts';
import type { PathTo } from './paths.ts';
import type { BrowserSession } from './session.ts';
import type { Download, News, View } from './page.ts';

interface Link {
  readonly label: string;
  readonly path: string;
  readonly adminOnly?: boolean;
}

const main: readonly Link[] = [
  { label: 'Incidents', path: '/incidents' },
  { label: 'Chats', path: '/chats' },
  { label: 'Explore', path: '/explore' },
  { label: 'Telemetry', path: '/telemetry' },
  { label: 'Integrations', path: '/integrations' },
  { label: 'Members', path: '/members' },
];

const integrations: readonly Link[] = [
  { label: 'API keys', path: '/integrations/api-keys', adminOnly: true },
  { label: 'Send telemetry', path: '/integrations/telemetry' },
  { label: 'Alerts', path: '/integrations/alerts', adminOnly: true },
  { label: 'Provisioning', path: '/integrations/provisioning', adminOnly: true },
  { label: 'Connected applications', path: '/integrations/applications' },
];

interface Frame {
  readonly title: string;
  readonly body: Html;
  readonly to: PathTo;
  readonly live?: boolean | undefined;
}

/** A page with the navigation of who is signed in. `path` is the page's, by which the current entry is known. */
export function shell(
  frame: Frame & { readonly path: string; readonly session: BrowserSession; readonly csrf: Html },
): Html {
  const { title, body, to, path, session, csrf } = frame;
  const { membership, user } = session;
  const links = (entries: readonly Link[]) =>
    entries
      .filter(({ adminOnly }) => !adminOnly || membership?.role === 'admin')
      .map((entry) => html`<li>${link(entry, path, to)}</li>`);
  return page(
    frame,
    html`<body>
      <a class="skip" href="#main">Skip to content</a>
      <header class="top">
        <div>
          ${brand(to(membership ? '/incidents' : '/organizations'), to)}
          ${
            membership &&
            html`<a class="organization" href="${to('/organizations')}"
                ><span class="hidden">Organization: </span>${membership.organization.name}<span class="hidden">
                  (choose another)</span
                ></a
              >
              <nav aria-label="Main">
                <ul>
                  ${links(main)}
                </ul>
              </nav>`
          }
          <div class="who">
            <a href="${to('/account')}" ${path === '/account' && html` aria-current="page"`}
              ><span class="hidden">Account: </span>${user.email}</a
            >
            <form method="post" action="${to('/sign-out')}">${csrf}<button class="quiet small">Sign out</button></form>
          </div>
        </div>
      </header>
      <main id="main" tabindex="-1">
        ${
          membership &&
          isBelow(path, '/integrations') &&
          html`<nav class="sections" aria-label="Integrations">
            <ul>
              ${links(integrations)}
            </ul>
          </nav>`
        }
        <h1>${title}</h1>
        ${body}
      </main>
    </body>`,
  );
}

/** A page without navigation: sign-in, consent, an error. */
export function card(frame: Frame): Html {
  const { title, body, to } = frame;
  return page(
    frame,
    html`<body>
      <div class="alone">
        <header>${brand(to('/'), to)}</header>
        <main id="main">
          <div class="card">
            <h1>${title}</h1>
            ${body}
          </div>
        </main>
      </div>
    </body>`,
  );
}

function page({ title, to, live }: Frame, body: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Sightline</title>
        <link rel="stylesheet" href="${to(assets.style.path)}" />
        <link rel="icon" type="image/svg+xml" href="${to(assets.icon.path)}" />
        <script type="module" src="${to(assets.script.path)}"></script>
        ${live && html`<noscript><meta http-equiv="refresh" content="${reloadSeconds}" /></noscript>`}
      </head>
      ${body}
    </html> `;
}

/** Of a live page without script. */
const reloadSeconds = 5;

function brand(href: string, to: PathTo): Html {
  return html`<a class="brand" href="${href}"><img src="${to(assets.icon.path)}" alt="" />Sightline</a>`;
}

function link({ label, path }: Link, current: string, to: PathTo): Html {
  const state = current === path ? 'page' : isBelow(current, path) ? 'true' : undefined;
  return html`<a href="${to(path)}" ${state !== undefined && html` aria-current="${state}"`}>${label}</a>`;
}

function isBelow(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`);
}

interface Document extends Pick<View, 'retryAfterSeconds' | 'goOn' | 'live'> {
  readonly status: number;
  readonly document: Html;
}

export function sendDocument(response: ServerResponse, answer: Document): void {
  const body = Buffer.from(answer.document.toString());
  securePage(response, answer.live);
  if (answer.retryAfterSeconds !== undefined) response.setHeader('Retry-After', Math.ceil(answer.retryAfterSeconds));
  if (answer.goOn !== undefined) response.setHeader('Refresh', `0; url=${answer.goOn}`);
  response.writeHead(answer.status, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

/** Ends the connection where the lines break off, so that the browser does not take a part for the whole. */
export async function sendDownload(response: ServerResponse, { file, lines }: Download): Promise<void> {
  securePage(response);
  response.writeHead(200, {
    'content-type': 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="${file}"`,
  });
  await pipeline(Readable.from(lines), response);
}

/** 303: the browser goes on with GET, and reloading sends no form again. */
export function sendRedirect(response: ServerResponse, location: string): void {
  securePage(response);
  response.writeHead(303, { location, 'content-length': 0 });
  response.end();
}

/** Browsers ask again after so long, and so does who was here when a stream ended. */
const againMs = 500;
/** As long as a `read_chat` waits; browsers open it again, as they do one that a proxy cut. */
const longestNewsMs = 25_000;

/** A stream that tells of changes until there are no more, the reader leaves, or it is time to ask again. */
export async function sendNews(response: ServerResponse, { news }: News): Promise<void> {
  securePage(response);
  // nginx holds a stream back otherwise.
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  if (response.req.method === 'HEAD') return void response.end();
  response.write(`retry: ${againMs}\n\n`);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  for await (const _ of news(AbortSignal.any([gone.signal, AbortSignal.timeout(longestNewsMs)]))) {
    response.write('event: changed\ndata: look again\n\n');
  }
  response.end();
}

/** Replaces headers set before. Only a live page's script asks anything. */
function securePage(response: ServerResponse, live = false): void {
  const policy = [
    `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'${live ? "; connect-src 'self'" : ''}`,
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  ];
  response.setHeader('Content-Security-Policy', policy.join('; '));
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  // Invitations and password links have a secret in their address.
  response.setHeader('Referrer-Policy', 'no-referrer');
}
