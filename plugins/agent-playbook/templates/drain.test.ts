import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dialect } from '../../telemetry-duckdb/dialect.ts';
import { drain, wildcard, wordsOf, ofKinds, patternOf, templatesOf } from './drain.ts';

const templatesIn = (texts: readonly string[]): readonly string[] =>
  drain(texts)
    .flatMap(templatesOf)
    .map((template) => template.join(' '))
    .toSorted();
const names = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];

/** Lines as programs write them: few words again and again, with odd characters among them. */
const word = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('user', 'logged', 'in', 'from', 'order', wildcard, 'a[b]', 'x.y', 'ü', '$1'),
  },
  { weight: 2, arbitrary: fc.constantFrom(...names) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }).map((text) => text.replaceAll(/\s/gu, '_')) },
);
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const lines = fc.array(text, { maxLength: 60 });
const options = fc.record({
  similarity: fc.constantFrom(0.3, 0.4, 0.5, 0.7),
  mostChildren: fc.integer({ min: 1, max: 5 }),
  mostClusters: fc.integer({ min: 1, max: 5 }),
});

describe('Drain', () => {
  it('puts a wildcard where lines of a kind differ', () => {
    const found = drain(['user alice logged in', 'user bob logged in', 'user bob was locked out', 'cache is full']);
    const shown = found.map(({ words, lines: members }) => [words.join(' '), members]);
    expect(shown).toContainEqual(['user <*> logged in', ['user alice logged in', 'user bob logged in']]);
    expect(shown).toContainEqual(['user bob was locked out', ['user bob was locked out']]);
    expect(shown).toContainEqual(['cache is full', ['cache is full']]);
  });

  it('finds names in the first place, where each begins a line of its own', () => {
    const found = drain(['alice', 'bob', 'carol'].map((name) => `${name} logged in`));
    expect(found.map(({ words }) => words.join(' '))).toEqual(['<*> logged in']);
  });

  it('comes to the same whatever the order of the lines', () => {
    fc.assert(
      fc.property(
        lines.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        options,
        ([all, shuffled], chosen) => {
          expect(drain(shuffled, chosen)).toEqual(drain(all, chosen));
        },
      ),
    );
  });

  it('has templates that match each of their lines', () => {
    fc.assert(
      fc.property(lines, options, (all, chosen) => {
        for (const { words, lines: members } of drain(all, chosen)) {
          for (const member of members) {
            const read = wordsOf(member);
            expect(read).toHaveLength(words.length);
            expect(words.every((known, index) => known === wildcard || known === read[index])).toBe(true);
          }
        }
      }),
    );
  });

  it('has each text in one cluster', () => {
    fc.assert(
      fc.property(lines, options, (all, chosen) => {
        const texts = drain(all, chosen).flatMap(({ lines: members }) => members);
        expect(texts.toSorted()).toEqual([...new Set(all)].toSorted());
      }),
    );
  });

  it('has no more clusters beneath a first word than allowed', () => {
    const many = Array.from({ length: 40 }, (_, index) => `user ${'x'.repeat(index + 1)} ${'y'.repeat(index + 1)}`);
    expect(drain(many, { mostClusters: 3 })).toHaveLength(3);
  });
});

describe('the kinds of lines in a cluster', () => {
  it('are told apart by states, and not by names', () => {
    const all = names.flatMap((name) => [`login of ${name} succeeded`, `login of ${name} failed`]);
    expect(templatesIn(all)).toEqual(['login of <*> failed', 'login of <*> succeeded']);
  });

  it('are none where a few words differ', () => {
    expect(templatesIn(['order read from cache', 'order read from table', 'order read from disk'])).toEqual([]);
  });

  it('match their lines as regular expressions, and keep to the number of words', () => {
    fc.assert(
      fc.property(lines, (all) => {
        for (const cluster of drain(all)) {
          const templates = templatesOf(cluster);
          if (templates.length === 0) continue;
          for (const member of cluster.lines) {
            const matching = templates.filter((template) => new RegExp(patternOf(template), 'u').test(member));
            expect(matching.length).toBeGreaterThan(0);
            expect(new RegExp(patternOf(templates[0] ?? []), 'u').test(`${member} more`)).toBe(false);
          }
        }
      }),
    );
  });

  it('become one text in SQL', () => {
    const { write } = dialect;
    expect(ofKinds(write, 'body', [['user', wildcard, 'left', '(ok)']])).toBe(
      "regexp_replace(body, '^user [^ ]* left [^ ]ok[^ ]$', 'user <*> left (ok)', 'g')",
    );
  });
});
