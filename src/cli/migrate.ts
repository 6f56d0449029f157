import { z } from 'zod';
import { act, withWorkspace } from './command.ts';
import type { Register } from './command.ts';

export const register: Register = (program, output, summary) => {
  const command = program.command('migrate').description(`${summary} (serve does so by itself)`);
  act(command, output, z.object({}), async ({ settings }) => {
    const { applied, version } = await withWorkspace(settings, async ({ migrations }) => migrations);
    output.result({ applied, version }, () =>
      applied.length === 0 ? `The storage is up to date (${version}).` : `Applied: ${applied.join(', ')}`,
    );
  });
};
