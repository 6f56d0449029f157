import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { style } from './style.ts';

/** What a page does besides, in a browser that runs scripts: copy buttons. Nothing depends on it. */
const script = `
for (const button of document.querySelectorAll('button[data-copy]')) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
`.trimStart();

/** The mark beside the name: a line of sight over a horizon. */
const mark =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32">' +
  '<rect width="32" height="32" rx="8" fill="#1f4fd8"/>' +
  '<path d="M5 16s4-7 11-7 11 7 11 7-4 7-11 7S5 16 5 16Z" fill="none" stroke="#fff" stroke-width="2.2" stroke-linejoin="round"/>' +
  '<circle cx="16" cy="16" r="3.4" fill="#fff"/></svg>';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

/** What pages load, each named by its content, so that a browser keeps it for ever and never shows an old one. */
export const assets = {
  style: asset('css', 'text/css; charset=utf-8', style),
  script: asset('js', 'text/javascript; charset=utf-8', script),
  icon: asset('svg', 'image/svg+xml', `${mark}\n`),
} as const;

const byPath = new Map<string, Asset>(Object.values(assets).map((entry) => [entry.path, entry]));

export const serveAsset: RequestHandler = (request, response, next) => {
  const found = byPath.get(request.path);
  if (!found || (request.method !== 'GET' && request.method !== 'HEAD')) return next();
  response.writeHead(200, {
    'content-type': found.type,
    'content-length': found.body.length,
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  response.end(found.body);
};

function asset(extension: string, type: string, text: string): Asset {
  return {
    path: `/assets/sightline-${hash('sha256', text, 'hex').slice(0, 16)}.${extension}`,
    type,
    body: Buffer.from(text),
  };
}
