import { z } from 'zod';
import { act, type Register } from './command.ts';

export const register: Register = (program, output, summary) => {
  const command = program
    .command('migrate')
    .description(`${summary} (serve does so by itself)`)
    .option('--plan', 'print what would be done, and do nothing');
  act(command, output, z.object({ plan: z.boolean().default(false) }), async ({ settings, options }) => {
    const { migrateStorage, planMigration } = await import('../gateway/wiring/workspace.ts');
    if (options.plan) {
      const { pending, version } = await planMigration(settings);
      return output.result({ pending, version }, () =>
        pending.length === 0 ? `The storage is up to date (${version}).` : `To be applied: ${pending.join(', ')}`,
      );
    }
    const { applied, version } = await migrateStorage(settings);
    output.result({ applied, version }, () =>
      applied.length === 0 ? `The storage is up to date (${version}).` : `Applied: ${applied.join(', ')}`,
    );
  });
};
