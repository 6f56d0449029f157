import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { root } from '../support/gateway.ts';
import { questions } from './questions.ts';

const generated = new Set(['docs/cli.md', 'docs/configuration.md', 'docs/tools.md']);
const mostWords = 18_000;
const others = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

const guides = (await readdir(join(root, 'docs')))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
  .filter((page) => !generated.has(page));

const read = (page: string): Promise<string> => readFile(join(root, page), 'utf8');
const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');

/** The text under a heading, up to the next of the same level or above. */
function section(text: string, heading: string): string | undefined {
  const line = text.split('\n').find((each) => each.replace(/^##+ /, '') === heading && each.startsWith('##'));
  if (line === undefined) return undefined;
  const [marks = ''] = line.split(' ');
  const after = text.slice(text.indexOf(`${line}\n`) + line.length);
  const next = after.search(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return next === -1 ? after : after.slice(0, next);
}

/** As GitHub makes anchors of headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  const titles = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title.toLowerCase());
  return new Set(titles.map((title) => title.replaceAll(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-')));
}

describe('an operator', () => {
  it.each(questions)('finds "$asks" in $page under "$heading"', async ({ page, heading, answer, within }) => {
    const found = section(await read(page), heading);
    if (found === undefined) throw new Error(`${page} has no heading "${heading}".`);
    const before = wordsOf(found.replaceAll(/\s+/g, ' ').split(answer)[0] ?? '').length;
    const words = found.replaceAll(/\s+/g, ' ').includes(answer) ? before + wordsOf(answer).length : undefined;
    if (words === undefined) throw new Error(`${page}, "${heading}" does not say: ${answer}`);
    expect(words).toBeLessThanOrEqual(within);
  });
});

describe('the guides', () => {
  it(`have at most ${mostWords.toLocaleString('en')} words together`, async () => {
    const counts = await Promise.all(guides.map(async (page) => wordsOf(await read(page)).length));
    expect(guides.length).toBeGreaterThan(15);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(mostWords);
  });

  it.each(guides)('%s begins by saying what it is for', async (page) => {
    const [title = '', first = ''] = (await read(page)).split('\n\n');
    expect(title).toMatch(/^# \S.*$/);
    expect(first).toMatch(/^[A-Z`]/);
    expect(wordsOf(first).length).toBeLessThanOrEqual(60);
  });

  it.each([...guides, ...others])('%s links to headings that are there', async (page) => {
    const links = [...(await read(page)).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)];
    const wrong = await Promise.all(
      links.map(async ([link, target = '', anchor = '']) => {
        const path = target === '' ? page : normalize(join(page, '..', target));
        return anchorsOf(await read(path)).has(anchor) ? [] : [link];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  });

  it('show pictures in the README that are small, and said in words', async () => {
    const [picture = ''] = /<picture>[\s\S]*<\/picture>/.exec(await read('README.md')) ?? [];
    const files = [...picture.matchAll(/"(docs\/pictures\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files).toEqual(['docs/pictures/incident-dark.png', 'docs/pictures/incident-light.png']);
    for (const path of files) expect((await stat(join(root, path))).size).toBeLessThan(150_000);
    expect(picture).toMatch(/ alt="[^"]{40,}"/);
  });

  it.each(guides)('%s is linked from the README', async (page) => {
    expect(await read('README.md')).toContain(`](${page}`);
  });
});

describe('the reader of these tests', () => {
  it('would notice a missing heading and a missing anchor', () => {
    expect(section('# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n', 'B')).toBe('\n\nb\n\n### C\n\nc\n\n');
    expect(section('# A\n', 'B')).toBeUndefined();
    expect(anchorsOf('## What fails, and for how long\n')).toEqual(new Set(['what-fails-and-for-how-long']));
    expect(anchorsOf('```sh\n# no heading\n```\n').size).toBe(0);
  });
});
