import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { viewHtml } from '../src/web/view-file.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

const loading = /\b(?:src|href)=|url\((?!#)|@import|\bimport\(|fetch\(|XMLHttpRequest|WebSocket|\beval\(/g;

describe('the file that clients show', () => {
  it('is what `npm run view` writes', async () => {
    const { stdout } = await run(process.execPath, [join(root, 'test/support/view-file.ts')]);
    const isCurrent = (await readFile(join(root, 'src/web/view-file.ts'), 'utf8')) === stdout;
    expect({ isCurrent, otherwise: 'npm run view' }).toEqual({ isCurrent: true, otherwise: 'npm run view' });
  });

  it('is small, and names nothing that would be loaded', () => {
    expect(Buffer.byteLength(viewHtml)).toBeLessThan(60_000);
    expect(viewHtml.match(loading)).toBeNull();
  });
});
