import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './support/gateway.ts';

const run = promisify(execFile);

/** In no comment of production code and in no guide: there is a plainer word for each. */
const banned = [
  'whoever',
  'nobody knows',
  'what is there',
  'that is there',
  'of those that',
  'anew',
  'whom',
  'of its own accord',
  'is asked for',
  'at hand',
  'such as are',
  'hereby',
  'thereof',
  'makes whole',
] as const;

/** The form of subjects holds from this commit on. */
const first = 'house: move the code into thirteen rooms';
const subject = /^[a-z][a-z0-9 ,./-]*: \S/;
const longest = 72;

async function git(...args: string[]): Promise<string[]> {
  const { stdout } = await run('git', args, { cwd: root, maxBuffer: 10_000_000 });
  return stdout.split('\n').filter((line) => line !== '');
}

function comments(text: string): string {
  const found = text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm) ?? [];
  return found
    .join('\n')
    .replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ')
    .toLowerCase();
}

describe('the words of the house', () => {
  it('are plain in comments', async () => {
    const paths = await Promise.all(
      ['src', 'plugins'].map(async (folder) =>
        (await readdir(join(root, folder), { recursive: true })).map((path) => join(folder, path)),
      ),
    );
    const files = paths
      .flat()
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/support/'));
    const found = await Promise.all(
      files.map(async (path) => {
        const text = comments(await readFile(join(root, path), 'utf8'));
        return banned.filter((words) => new RegExp(`\\b${words}\\b`).test(text)).map((words) => `${path}: ${words}`);
      }),
    );
    expect(found.flat()).toEqual([]);
    expect(files.length).toBeGreaterThan(500);
  });

  it('are plain in the guides', async () => {
    const generated = new Set(['cli.md', 'configuration.md', 'tools.md']);
    const pages = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && !generated.has(name));
    const found = await Promise.all(
      ['README.md', ...pages.map((name) => join('docs', name))].map(async (path) => {
        const text = (await readFile(join(root, path), 'utf8')).replaceAll(/\s+/g, ' ').toLowerCase();
        return banned.filter((words) => new RegExp(`\\b${words}\\b`).test(text)).map((words) => `${path}: ${words}`);
      }),
    );
    expect(found.flat()).toEqual([]);
    expect(pages.length).toBeGreaterThan(15);
  });

  it('name the area in the subject of a commit, in at most 72 characters', async () => {
    const all = await git('log', '--no-merges', '--format=%s').catch((error: unknown) => {
      if (process.env['REQUIRE_SERVICES'] === '1') throw error;
      return undefined;
    });
    if (all === undefined) {
      process.stderr.write('not run: subjects of commits, as this copy has no git history\n');
      return;
    }
    const subjects = all.slice(0, all.indexOf(first) + 1);
    expect(subjects).not.toEqual([]);
    expect(subjects.filter((line) => line.length > longest || !subject.test(line))).toEqual([]);
  });

  it('are found across the lines of a comment, and not in code', () => {
    expect(comments('/** Of those\n * that wait. */\nconst anew = 1; // Whom\n')).toBe(
      '/** of those that wait. */ whom',
    );
  });
});
