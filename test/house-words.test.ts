import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './support/gateway.ts';

const run = promisify(execFile);

/** Of every comment of production code. A count may only fall: lower it with each one that is reworded. */
const ceilings: Readonly<Record<string, number>> = {
  whoever: 61,
  'nobody knows': 5,
  'what is there': 5,
  'that is there': 13,
  'of those that': 4,
  anew: 32,
  whom: 19,
  'of its own accord': 0,
  'is asked for': 9,
};

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
  it('become plainer in comments, never less plain', async () => {
    const found = await Promise.all(
      ['src', 'plugins'].map(async (folder) =>
        (await readdir(join(root, folder), { recursive: true })).map((path) => join(folder, path)),
      ),
    );
    const files = found
      .flat()
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('/support/'));
    const texts = await Promise.all(files.map((path) => readFile(join(root, path), 'utf8')));
    const said = texts.map(comments).join('\n');
    const risen = Object.entries(ceilings)
      .map(([words, ceiling]) => ({
        words,
        ceiling,
        count: said.match(new RegExp(`\\b${words}\\b`, 'g'))?.length ?? 0,
      }))
      .filter(({ count, ceiling }) => count > ceiling);
    expect(risen).toEqual([]);
    expect(files.length).toBeGreaterThan(500);
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
