import { describe, expect, it } from '@jest/globals';
import { longestDocument, mergeDocument, type Version } from './document.ts';

const document = (sections: Readonly<Record<string, string>>): string =>
  Object.entries(sections)
    .map(([title, body]) => `## ${title}\n\n${body}`)
    .join('\n\n')
    .concat('\n');
const byAgent = (markdown: string): Version => ({ markdown, byAgent: true });
const byPerson = (markdown: string): Version => ({ markdown, byAgent: false });
const merge = (versions: readonly Version[], markdown: string, found = true): string =>
  mergeDocument(versions, { markdown, found });

const first = document({
  Summary: 'Payment fails.',
  Timeline: '- 11:35: it begins',
  'Root cause': 'Payment.',
  Evidence: '- **E1** Who fails?\n- **E2** Who is slow?',
});
const second = document({
  Summary: 'The database of payment is down.',
  Timeline: '- 11:35: it begins\n- 11:50: the pool is empty',
  'Root cause': 'The database.',
  Evidence: '- **E3** Who is full?',
});

describe('findings in a document', () => {
  it('are the whole of it where there was none', () => {
    expect(merge([], first)).toBe(first);
  });

  it('leave a section alone that a person wrote under a title that is there already', () => {
    const twice = `${document({ Summary: 'Payment fails.' })}\n## Summary\n\nOurs.\n`;
    expect(merge([byAgent(document({ Summary: 'Payment fails.' })), byPerson(twice)], second)).toContain('Ours.');
  });

  it('replace what the agent wrote before, save evidence that is still cited', () => {
    expect(merge([byAgent(first)], second)).toBe(second);
    const citing = first.replace('Payment fails.', 'We lost 40 orders [E2].');
    expect(merge([byAgent(first), byPerson(citing)], second)).toContain(
      '## Evidence\n\n- **E2** Who is slow?\n- **E3** Who is full?\n',
    );
  });

  it('come between the lines that people wrote into the timeline, and replace none of these', () => {
    const timed = (lines: string): string => document({ Timeline: lines });
    const agents = timed('- 2026-03-01 11:35 UTC: it begins');
    const theirs = timed('- 2026-03-01 11:35 UTC: it begins\n- 2026-03-01 11:41 UTC: Ann was paged');
    const later = timed('- 2026-03-01 11:37 UTC: it begins\n- 2026-03-01 11:50 UTC: the pool is empty');
    const merged = merge([byAgent(agents), byPerson(theirs)], later);
    expect(merged).toBe(
      timed(
        '- 2026-03-01 11:37 UTC: it begins\n- 2026-03-01 11:41 UTC: Ann was paged\n- 2026-03-01 11:50 UTC: the pool is empty',
      ),
    );
  });

  it('stand where an agent puts them, among the sections that are there', () => {
    const theirs = document({ Summary: 'Ours.', Impact: 'Ours.', Timeline: 'Ours.' });
    const titles = merge([byPerson(theirs)], document({ Summary: 'x', 'Next steps': '- y', Timeline: '- z' }));
    expect([...titles.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
      'Summary',
      'Next steps',
      'Impact',
      'Timeline',
    ]);
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
    expect(merged).toContain('Who is full?');
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
    for (const part of ['# Ours', 'Call Bob.', 'The deploy, says Ann.', 'None.']) expect(merged).toContain(part);
    expect(merged).not.toContain('Payment.\n');
    expect([...merged.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(
      expect.arrayContaining(['Root cause', 'Notes', 'Summary', 'Timeline', 'Evidence']),
    );
  });

  it('take nothing back where they found nothing', () => {
    const nothing = document({
      Summary: 'Nothing is wrong.',
      Timeline: '_Nothing to report._',
      Evidence: '**E1** And catalog?',
    });
    const merged = merge([byAgent(first)], nothing, false);
    expect(merged).toBe(first);
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

  it('never make a document longer than its bound, and leave what to do next and what people wrote', () => {
    const long = (at: number): string =>
      document({
        Summary: `Run ${at}.`,
        Impact: Array.from({ length: 30 }, (_, line) => `- ${at}.${line} ${'impact '.repeat(60)}`).join('\n'),
        'Root cause': `${'cause '.repeat(90)}[E${at}]`,
        'Next steps': '- Roll back.\n- Ask Ann.',
        Evidence: Array.from({ length: 30 }, (_, line) => `- **E${at + line}** \`${'x'.repeat(900)}\``).join('\n'),
      });
    const versions = [byAgent(merge([], long(1)))];
    const theirs = `## Notes\n\n${'Ours. '.repeat(300)}`;
    for (let at = 31; at < 300; at += 30) {
      versions.push(byAgent(merge(versions, long(at))));
      if (at === 31) versions.push(byPerson(`${versions.at(-1)?.markdown}\n${theirs}\n`));
      const { markdown = '' } = versions.at(-1) ?? {};
      expect(Buffer.byteLength(markdown)).toBeLessThanOrEqual(longestDocument + (at === 31 ? theirs.length : 2));
      expect(markdown).toContain('- Roll back.\n- Ask Ann.');
      expect(markdown).toContain(theirs.trim());
      expect(markdown.split('`').length % 2).toBe(1);
    }
  });

  it('cut nothing that a person wrote, however long', () => {
    const theirs = document({ Evidence: 'x\n'.repeat(5_000).trim() });
    expect(merge([byPerson(theirs)], document({ Evidence: '- y' }))).toBe(theirs);
  });
});
