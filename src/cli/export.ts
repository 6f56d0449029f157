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
      ].join('\n'),
    );
  });
};

/** How many there are of what matters to people. */
export function inWords(counts: Readonly<Record<string, number>>): string {
  const named = {
    organizations: 'organizations',
    users: 'people',
    api_keys: 'API keys',
    incidents: 'incidents',
    chats: 'chats',
    audit: 'audit records',
  };
  return Object.entries(named)
    .map(([table, words]) => `${counts[table] ?? 0} ${words}`)
    .join(', ');
}
