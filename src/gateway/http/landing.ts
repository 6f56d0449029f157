import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { escapeHtml } from '../../contract/core/quote.ts';
import { sendJson } from './json.ts';

const style = `
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { background: Canvas; color: CanvasText; max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid; border-radius: .4rem; }
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

interface LandingOptions {
  readonly name: string;
  readonly resource: string;
  /** Where API keys are exchanged; absent when the issuer is elsewhere. */
  readonly tokenUrl?: string;
  readonly signInUrl: string;
}

/** What a person sees who opens the address in a browser; a program gets the same in JSON. */
export function landingPage(options: LandingOptions): RequestHandler {
  const html = page(options);
  const json = { name: options.name, mcp_endpoint: options.resource, token_endpoint: options.tokenUrl };
  return (request, response) => {
    response.setHeader('Vary', 'Accept');
    if (request.accepts(['json', 'html']) !== 'html') return sendJson(response, 200, json);
    response.setHeader('Content-Security-Policy', policy);
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': Buffer.byteLength(html),
      'cache-control': 'no-store',
    });
    response.end(html);
  };
}

function page({ name, resource, tokenUrl, signInUrl }: LandingOptions): string {
  const exchange = tokenUrl === undefined ? '' : tokenSection(tokenUrl);
  const connect = `claude mcp add --transport http sightline ${resource}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(name)}</h1>
<p>This is an MCP server: coding agents and scripts read an organization’s telemetry, incidents and chats through it.</p>
<p><a href="${escapeHtml(signInUrl)}">Open your workspace</a> to see incidents and chats, connect applications, or make API keys.</p>
<h2>Endpoint</h2>
<pre tabindex="0">${escapeHtml(resource)}</pre>
<h2>Connect</h2>
<p>The client opens a browser, where you sign in. In Claude Code, for one:</p>
<pre tabindex="0">${escapeHtml(connect)}</pre>
${exchange}</main>
</body>
</html>
`;
}

function tokenSection(tokenUrl: string): string {
  const command = [
    `curl -s ${tokenUrl} \\`,
    '  -d grant_type=client_credentials \\',
    '  --data-urlencode client_id=ak_… \\',
    '  --data-urlencode client_secret=…',
  ].join('\n');
  return `<h2>For machines: an access token for an API key, good for one hour</h2>
<pre tabindex="0">${escapeHtml(command)}</pre>
`;
}
