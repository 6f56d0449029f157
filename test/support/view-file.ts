import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { viewStyle } from '../../src/web/view/style.ts';
import { root } from './gateway.ts';

/* src/web/view-file.ts: `npm run view` writes it, and a test compares. */

async function writeViewFile(): Promise<string> {
  const bundle = await rolldown({
    input: join(root, 'src/web/view/main.ts'),
    platform: 'browser',
    // Of what the view shares with the gateway it takes single functions, and no schemas.
    treeshake: { moduleSideEffects: (id) => id.includes('/src/web/view/'), manualPureFunctions: ['z'] },
    external: /^node:/,
  });
  const { output } = await bundle.generate({ format: 'iife', minify: true });
  await bundle.close();
  const [{ code }] = output;
  if (output.length > 1 || /\bimport\b|<\/script|<!--/.test(code)) throw new Error('the script is not of one piece');
  const script = code.trim();
  const policy = [
    `default-src 'none'`,
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(viewStyle)}'`,
    `base-uri 'none'`,
    `form-action 'none'`,
  ].join('; ');
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sightline</title>',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<style>${viewStyle}</style></head><body><script>${script}</script></body></html>\n`,
  ].join('');
  return [
    '/* Written by `npm run view` from src/web/view. */',
    '',
    '/** What clients show of results: one file that loads nothing. */',
    `export const viewHtml: string = ${JSON.stringify(html)};`,
    '',
  ].join('\n');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

process.stdout.write(await writeViewFile());
