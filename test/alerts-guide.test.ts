import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import datadog from '../plugins/alerts-datadog/index.ts';
import generic from '../plugins/alerts-generic/index.ts';
import { shipped } from '../plugins/alerts-generic/senders.ts';
import { severityOf } from '../src/contract/alerts/index.ts';
import { alertInput } from './support/alerts.ts';
import { root } from './support/gateway.ts';

const guide = await readFile(join(root, 'docs', 'alerts.md'), 'utf8');

/** The JSON in the section with this title. */
function example(title: string): unknown {
  const [, section = ''] = guide.split(`\n## ${title}\n`);
  return JSON.parse(/```json\n(.*?)```/s.exec(section)?.[1] ?? '');
}

describe('the guide to alerts', () => {
  it('has an example that the generic input takes', () => {
    expect(alertInput(generic).normalize(example('Generic JSON'))).toMatchObject([{ fingerprint: 'disk-db-1' }]);
  });

  it('names each sender that is shipped', () => {
    const [, section = ''] = guide.split('\n## Senders that the generic plugin knows\n');
    for (const { name } of shipped.slice(0, -1)) expect(section).toContain(name.split(' ')[0]);
  });

  it('has the payload that the Datadog input gives', () => {
    const { instructions } = alertInput(datadog);
    expect(instructions({ url: 'https://x.example.com', secret: 'x' })).toContain(
      JSON.stringify(example('Datadog'), null, 2),
    );
  });

  it('says of each word which severity it is', () => {
    const rows = [...guide.matchAll(/^\| (critical|high|medium|low) \| (.*) \|$/gm)];
    expect(rows).toHaveLength(4);
    for (const [, severity, words = ''] of rows) {
      for (const word of words.split(/[,;] /)) expect(`${word}: ${severityOf(word)}`).toBe(`${word}: ${severity}`);
    }
  });
});
