import { resolve } from 'node:path';
import { z } from 'zod';
import { exportWorkspace } from '../records/transfer/export.ts';
import { act, withWorkspace, type Register } from './command.ts';

export const register: Register = (program, output, summary) => {
  const command = program
    .command('export')
    .argument('<file>')
    .description(`${summary}; gzipped where the name ends in .gz`);
  act(command, output, z.object({}), async ({ settings, operands: [name = ''] }) => {
    const file = resolve(name);
    const exported = await withWorkspace(settings, ({ storage, vault, now }) =>
      exportWorkspace({ storage, vault, now, file, onProgress: (fraction) => output.progress(fraction, 'exporting') }),
    );
    output.result({ file, ...exported }, () =>
      [
        `Wrote ${file}: ${inWords(exported.counts)}.`,
        'It can only be imported with the same master key. Keep that apart from it.',
        ...(exported.unopened > 0 ? [unopenedWords(exported.unopened)] : []),
      ].join('\n'),
    );
  });
};

function unopenedWords(count: number): string {
  return (
    `Secrets in it that this master key does not open, neither here nor after an import: ${count}.\n` +
    'Ingest tokens work all the same; rotate alert sources, and remove webhooks and add them again.'
  );
}

/** How many there are of what matters to people. */
export function inWords(counts: Readonly<Record<string, number>>): string {
  const named = {
    organizations: ['organization', 'organizations'],
    users: ['person', 'people'],
    api_keys: ['API key', 'API keys'],
    incidents: ['incident', 'incidents'],
    chats: ['chat', 'chats'],
    audit: ['audit record', 'audit records'],
  } as const;
  return Object.entries(named)
    .map(([table, [one, many]]) => `${counts[table] ?? 0} ${counts[table] === 1 ? one : many}`)
    .join(', ');
}
