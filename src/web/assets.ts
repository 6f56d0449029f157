import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { graphicsStyle, palette } from './graphics/style.ts';

/** The one stylesheet: calm, light and dark as the system is, from a narrow phone to a wide screen, in the system's fonts. */
const style = `
:root {
  color-scheme: light dark;
${palette.light}  --radius: .6rem;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
${palette.dark}  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); }
h1 { font-size: 1.6rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 2rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; }
p { margin: 0 0 1rem; }
ul, ol { margin: 0 0 1rem; padding-left: 1.25rem; }
a { color: var(--accent); text-underline-offset: .15em; }
a:hover { color: var(--accent-strong); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
h1, h2, h3, p, li, dd, td, tbody th { overflow-wrap: anywhere; }
small, .soft { color: var(--soft); }
small { font-size: .875rem; }
hr { border: 0; border-top: 1px solid var(--line); margin: 1.5rem 0; }

.skip { position: absolute; left: -999rem; top: 0; padding: .6rem 1rem; background: var(--surface); z-index: 2; }
.skip:focus { left: .5rem; top: .5rem; }

.top { background: var(--surface); border-bottom: 1px solid var(--line); }
.top > div { max-width: 72rem; margin: 0 auto; padding: .6rem 1.25rem; display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.25rem; }
.brand { display: inline-flex; align-items: center; gap: .5rem; font-weight: 650; color: var(--text); text-decoration: none; }
.brand img { width: 1.6rem; height: 1.6rem; display: block; }
.organization { color: var(--soft); text-decoration: none; border: 1px solid var(--line); border-radius: 2rem; padding: .1rem .75rem; font-size: .9rem; max-width: 16rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.organization:hover { border-color: var(--edge); color: var(--text); }
.top nav { flex: 1 1 auto; }
nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .15rem .25rem; }
nav a { display: inline-block; padding: .3rem .7rem; border-radius: .4rem; color: var(--soft); text-decoration: none; }
nav a:hover { background: var(--code); color: var(--text); }
nav a[aria-current] { color: var(--text); font-weight: 600; background: var(--code); }
.who { margin-left: auto; display: flex; align-items: center; gap: .5rem; font-size: .9rem; }
.who a { max-width: 11rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.who button { white-space: nowrap; }
.sections { border-bottom: 1px solid var(--line); margin-bottom: 1.5rem; padding-bottom: .5rem; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
main:focus { outline: none; }

.alone { min-height: 100vh; display: flex; flex-direction: column; align-items: center; padding: 8vh 1rem 3rem; }
.alone main { width: 100%; max-width: 28rem; padding: 0; margin: 0; }
.alone .brand { margin-bottom: 1.25rem; font-size: 1.1rem; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: var(--shadow); padding: 1.5rem; margin: 0 0 1.5rem; }
.alone .card > :last-child, .card > :last-child { margin-bottom: 0; }
.card h2:first-child { margin-top: 0; }

form { margin: 0; }
form + .plain { margin-top: 1rem; }
.field { margin: 0 0 1.1rem; }
.field label, .label { display: block; font-weight: 600; margin-bottom: .3rem; }
.field small { display: block; margin: 0 0 .35rem; }
.field .problem { color: var(--danger); font-weight: 600; }
input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea {
  width: 100%; font: inherit; color: inherit; background: var(--surface); padding: .55rem .7rem; min-height: 2.75rem;
  border: 1px solid var(--edge); border-radius: .4rem;
}
textarea { min-height: 7rem; resize: vertical; }
input[aria-invalid=true] { border-color: var(--danger); border-width: 2px; }
input[type=checkbox], input[type=radio] { width: 1.15rem; height: 1.15rem; margin: .2rem 0 0; accent-color: var(--accent); flex: none; }
fieldset { border: 0; padding: 0; margin: 0 0 1.25rem; min-width: 0; }
legend { font-weight: 600; padding: 0; margin-bottom: .4rem; }
.choice { display: flex; gap: .65rem; align-items: flex-start; padding: .4rem 0; }
.choice small { display: block; }
.filter { display: flex; flex-wrap: wrap; gap: .75rem 1.25rem; align-items: end; margin: 0 0 1.5rem; }
.filter select { min-width: 12rem; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin: 1.25rem 0 0; }
button, .button {
  font: inherit; font-weight: 600; cursor: pointer; min-height: 2.75rem; padding: .5rem 1.1rem; border-radius: .4rem; display: inline-flex;
  align-items: center; justify-content: center; text-decoration: none; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent);
}
button:hover, .button:hover { background: var(--accent-strong); border-color: var(--accent-strong); color: var(--on-accent); }
button.quiet, .button.quiet { background: transparent; color: var(--text); border-color: var(--edge); }
button.quiet:hover, .button.quiet:hover { background: var(--code); color: var(--text); }
button.danger { background: transparent; color: var(--danger); border-color: var(--danger); }
button.danger:hover { background: var(--danger-soft); color: var(--danger); }
button.small, .button.small { min-height: 2rem; padding: .2rem .7rem; font-size: .9rem; font-weight: 500; }
button.wide, .button.wide { width: 100%; }
button[hidden] { display: none; }
.linklike { background: none; border: 0; color: var(--accent); min-height: 0; padding: 0; font-weight: 400; text-decoration: underline; text-underline-offset: .15em; }
.linklike:hover { background: none; color: var(--accent-strong); }

.alert, .notice, .warning { border: 1px solid; border-left-width: 4px; border-radius: .4rem; padding: .75rem 1rem; margin: 0 0 1.25rem; }
.alert { background: var(--danger-soft); border-color: var(--danger); }
.notice { background: var(--good-soft); border-color: var(--good-line); }
.warning { background: var(--warn-soft); border-color: var(--warn-line); }
.warning > h2:first-child, .markdown > :first-child { margin-top: 0; }
.markdown > :last-child { margin-bottom: 0; }
.alert > :last-child, .notice > :last-child, .warning > :last-child { margin-bottom: 0; }

code, pre { font: .875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); padding: .1em .35em; border-radius: .25rem; overflow-wrap: anywhere; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: .4rem; padding: .8rem 1rem; margin: 0 0 .75rem; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.wrap, .whole pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.whole pre code { overflow-wrap: anywhere; }
.table { position: relative; overflow-x: auto; margin: 0 0 1.5rem; background: var(--surface); border: 1px solid var(--line); border-radius: var(--radius); }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; padding: .75rem 1rem 0; font-weight: 600; }
th, td { text-align: left; vertical-align: top; padding: .65rem 1rem; border-bottom: 1px solid var(--line); }
th { font-size: .85rem; color: var(--soft); font-weight: 600; white-space: nowrap; }
tbody th { color: var(--text); font-size: 1rem; white-space: normal; }
tbody th small { font-weight: 400; }
td, tbody th { min-width: 9rem; }
tbody th:has(small) { min-width: min(16rem, 60vw); }
td .actions { margin: 0; }
tbody tr:last-child > * { border-bottom: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.25rem; margin: 0 0 1.25rem; }
dt { color: var(--soft); }
dd { margin: 0; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 2rem; padding: 0 .6rem; font-size: .85rem; color: var(--soft); white-space: nowrap; }
.plain { list-style: none; padding: 0; }
.plain > li { margin: 0 0 .6rem; }
.plain button { justify-content: flex-start; gap: .6rem; }
.plain button.wide { max-width: 32rem; }
main > .card .field { max-width: 32rem; }
.entry { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: flex-start; padding: .75rem 0; border-top: 1px solid var(--line); }
.plain > .entry { margin: 0; }
.entry:last-child { padding-bottom: 0; }
.entry small { display: block; }
summary { cursor: pointer; font-weight: 600; }
details[open] > summary { margin-bottom: .75rem; }
details { margin: 0 0 1rem; }
blockquote { margin: 0 0 1rem; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.markdown + .findings { margin-top: 1rem; }
.actions.asks { margin: 0 0 1rem; gap: .5rem; }
.strip { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; margin: -.4rem 0 1rem; }
.strip .actions { margin: 0 0 0 auto; gap: .5rem; }
.severity-critical, .severity-high { color: var(--danger); border-color: var(--danger); font-weight: 600; }
.waiting { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; padding: .5rem 1rem; }
.waiting > * { margin: 0; }
.warning.waiting h2, .waiting p { font-size: .95rem; }
.explore { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.5rem; }
.explore textarea, .columns code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.explore textarea { font-size: .9rem; }
.explore aside { margin-top: 1.5rem; }
.explore aside .card { padding: 1.1rem 1.25rem; margin-bottom: 1rem; box-shadow: none; }
.explore aside h2 { font-size: 1rem; }
.explore .table { max-height: 40rem; overflow-y: auto; font-size: .875rem; }
.explore .table th, .explore .table td { min-width: 0; padding: .35rem .75rem; }
.explore thead th { position: sticky; top: 0; background: var(--surface); }
.explore tbody th { font-size: inherit; font-weight: 400; }
.explore .table bdi { display: inline-block; width: max-content; max-width: 26rem; vertical-align: top; overflow-wrap: anywhere; white-space: pre-wrap; }
.explore .table a bdi { text-decoration: underline; }
.times { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11rem), 1fr)); gap: .75rem 1.25rem; margin: 0 0 .35rem; }
.incident { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1.5rem; }
.incident .card { padding: 1.1rem 1.25rem; margin-bottom: 1rem; box-shadow: none; }
.incident aside h2 { margin-top: 0; }
.incident aside textarea { min-height: 5rem; }
.answer { font-size: .95rem; }
.answer > dl { margin: 0; gap: .5rem 1.25rem; }
.answer > dl > dt { font-weight: 600; color: var(--text); }
.answer ul, .answer .markdown { margin-bottom: 0; }
.courses, .cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }
.cards { grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); align-items: start; gap: 0 1rem; }
figure { margin: 0 0 .75rem; min-width: 0; }
figcaption { font-weight: 600; font-size: .9rem; margin-bottom: .35rem; }
.figures { margin: .25rem 0 0; font-size: .85rem; }
.figures > summary { font-weight: 400; color: var(--soft); }
.key { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; }
.gfx.sign { display: inline-block; width: 14px; vertical-align: -2px; }
.events { margin-bottom: 0; columns: 24rem; }
.findings { columns: 19rem; column-gap: 1rem; }
.findings > .card { break-inside: avoid; font-size: .95rem; }
.incident details { margin-bottom: .4rem; }
.incident summary { font-size: .9rem; }
.incident h2 { margin-top: 1.25rem; }
.incident .card > h2, .incident .card > h3 { margin-top: 0; }
.incident .card > p { margin-bottom: .5rem; }

@media (min-width: 64rem) {
  .explore { grid-template-columns: minmax(0, 1fr) 19rem; }
  .explore aside { margin-top: 0; }
  .incident { grid-template-columns: minmax(0, 1fr) 18rem; }
  .incident .below { grid-column: 1 / span 2; }
}
@media (max-width: 40rem) {
  .strip .actions { margin-left: 0; }
  .alone { padding-top: 1.5rem; }
  main { padding-top: 1.25rem; }
  .top nav { margin-left: -.5rem; }
  .top nav a { padding: .3rem .5rem; }
  .who { margin-left: 0; }
  .card { padding: 1.15rem; }
  tbody th { min-width: 0; max-width: 60vw; overflow-wrap: break-word; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .6rem; }
  .actions > * { flex: 1 1 auto; }
}
@media (prefers-reduced-motion: no-preference) { button, .button, nav a { transition: background-color .12s, border-color .12s; } }
`.trimStart();

/**
 * What a page does besides, in a browser that runs scripts: copy buttons, the local time where the pointer rests, how far a
 * picture's axis is from it, and what is new in a live page. Nothing depends on it.
 */
const script = `
function enrich(root) {
  for (const button of root.querySelectorAll('button[data-copy]')) {
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
  for (const time of root.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  }
  const here = new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' }).formatToParts().find(({ type }) => type === 'timeZoneName')?.value.replace('GMT', 'UTC');
  for (const zone of root.querySelectorAll('[data-utc]')) if (new Date().getTimezoneOffset() !== 0) zone.textContent = 'UTC; your clock is ' + here;
  for (const part of root.querySelectorAll('[data-scripted]')) part.hidden = false;
}
enrich(document);

const live = document.querySelector('[data-live]');
if (live) {
  const news = new EventSource(live.dataset.live);
  let looks = 0;
  news.addEventListener('changed', async () => {
    const look = (looks += 1);
    const answer = await fetch(location.pathname + location.search);
    const body = await answer.text();
    // A slower answer to an earlier look would put an older state in the place of a newer one.
    if (!answer.ok || look !== looks) return;
    const now = new DOMParser().parseFromString(body, 'text/html');
    for (const part of now.querySelectorAll('[data-part]')) {
      const shown = document.getElementById(part.id);
      if (!shown || shown.dataset.part === part.dataset.part) continue;
      // What somebody is typing stays.
      const text = shown.querySelector('textarea');
      if (text && (text.value !== '' || text === document.activeElement)) continue;
      shown.replaceWith(part);
      enrich(part);
    }
    if (!now.querySelector('[data-live]')) news.close();
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
  style: asset('css', 'text/css; charset=utf-8', `${style}${graphicsStyle}`),
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
