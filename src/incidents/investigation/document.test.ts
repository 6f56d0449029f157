import { describe, expect, it } from '@jest/globals';
import { mergeDocument, type Version } from './document.ts';

const askedAt = new Date('2026-03-01T12:00:00Z');
const document = (sections: Readonly<Record<string, string>>): string =>
  Object.entries(sections)
    .map(([title, body]) => `## ${title}\n\n${body}`)
    .join('\n\n')
    .concat('\n');
const byAgent = (markdown: string): Version => ({ markdown, byAgent: true });
const byPerson = (markdown: string): Version => ({ markdown, byAgent: false });
const merge = (versions: readonly Version[], markdown: string, found = true): string =>
  mergeDocument(versions, { markdown, askedAt, found });

const first = document({
  Summary: 'Payment fails.',
  Timeline: '- 11:35: it begins',
  'Root cause': 'Payment.',
  Evidence: '**E1** Who fails?\n\n```sql\nSELECT 1\n## no heading\n```',
});
const second = document({
  Summary: 'The database of payment is down.',
  Timeline: '- 11:35: it begins\n- 11:50: the pool is empty',
  'Root cause': 'The database.',
  Evidence: '**E1** Who is slow?',
});

describe('findings in a document', () => {
  it('are the whole of it where there was none', () => {
    expect(merge([], first)).toBe(first);
  });

  it('leave a section alone that a person wrote under a title that is there already', () => {
    const twice = `${document({ Summary: 'Payment fails.' })}\n## Summary\n\nOurs.\n`;
    expect(merge([byAgent(document({ Summary: 'Payment fails.' })), byPerson(twice)], second)).toContain('Ours.');
  });

  it('that have no room add no evidence, and yet say what is concluded', () => {
    const full = document({ Summary: 'Payment fails.', Evidence: 'x'.repeat(499_000) });
    const next = document({ Summary: 'The database is down.', Evidence: 'y'.repeat(2_000) });
    expect(merge([byAgent(full)], next)).toBe(full.replace('Payment fails.', 'The database is down.'));
  });

  it('replace what the agent wrote before, and add to Timeline and Evidence', () => {
    expect(merge([byAgent(first)], second)).toBe(
      document({
        Summary: 'The database of payment is down.',
        Timeline: '- 11:35: it begins\n- 11:50: the pool is empty',
        'Root cause': 'The database.',
        Evidence:
          '**E1** Who fails?\n\n```sql\nSELECT 1\n## no heading\n```\n\n### Asked 2026-03-01 12:00 UTC\n\n**E1** Who is slow?',
      }),
    );
  });

  it('leave each section that a person wrote or changed, and one that a person took out', () => {
    const theirs = first
      .replace('Payment fails.', 'We sold nothing for an hour.')
      .replace('## Root cause\n\nPayment.\n\n', '');
    const merged = merge([byAgent(first), byPerson(theirs)], second);
    expect(merged).toContain('We sold nothing for an hour.');
    expect(merged).not.toContain('The database of payment is down.');
    expect(merged).not.toContain('## Root cause');
    expect(merged).toContain('11:50: the pool is empty');
    expect(merged).toContain('Who is slow?');
  });

  it('leave what a person wrote also when the agent has written to the document since', () => {
    const theirs = document({ 'Root cause': 'The deploy, says Ann.' });
    const once = merge([byPerson(theirs)], first);
    const twice = merge([byPerson(theirs), byAgent(once)], second);
    expect(twice).toContain('The deploy, says Ann.');
    expect(twice).not.toContain('The database.');
    expect(twice).toContain('The database of payment is down.');
  });

  it('stand beside what a person wrote before any, with nothing of it lost', () => {
    const theirs = '# Ours\n\nCall Bob.\n\n## Root cause\n\nThe deploy, says Ann.\n\n## Notes\n\nNone.';
    const merged = merge([byPerson(theirs)], first);
    expect(merged.startsWith(theirs)).toBe(true);
    expect([...merged.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
      'Root cause',
      'Notes',
      'Summary',
      'Timeline',
      'Evidence',
      'no heading',
    ]);
  });

  it('take nothing back where they found nothing', () => {
    const nothing = document({
      Summary: 'Nothing is wrong.',
      Timeline: '_Nothing to report._',
      Evidence: '**E1** And catalog?',
    });
    const merged = merge([byAgent(first)], nothing, false);
    expect(merged).toContain('Payment fails.');
    expect(merged).toContain('And catalog?');
    expect(merged).not.toContain('Nothing to report');
  });

  it('change nothing the second time, as a run that is resumed writes them', () => {
    for (const current of [first, '# Ours', `${first}\n## Mine\n\nx\n`]) {
      const once = merge([byPerson(current)], second);
      expect(merge([byPerson(current), byAgent(once)], second)).toBe(once);
    }
  });

  it('of an agent that writes no sections are evidence', () => {
    expect(merge([byPerson('# Ours')], 'Found.')).toBe('# Ours\n\n## Evidence\n\nFound.\n');
  });

  it('do not make a document grow without end', () => {
    const long = document({ Evidence: 'x'.repeat(499_000) });
    expect(merge([byPerson(long)], document({ Evidence: 'y'.repeat(2_000) }))).toBe(long);
  });
});
