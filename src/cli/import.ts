import { resolve } from 'node:path';
import { z } from 'zod';
import { importWorkspace } from '../records/transfer/import.ts';
import { act, invocation, withWorkspace, type Register } from './command.ts';
import { inWords } from './export.ts';

export const register: Register = (program, output, summary) => {
  const command = program.command('import').argument('<file>').description(summary);
  act(command, output, z.object({}), async ({ settings, operands: [name = ''] }) => {
    const file = resolve(name);
    const imported = await withWorkspace(settings, ({ storage, vault }) =>
      importWorkspace({ storage, vault, file, onProgress: (fraction) => output.progress(fraction, 'importing') }),
    );
    output.result({ file, ...imported }, () =>
      [
        `Imported ${file}, the workspace as it was on ${imported.exportedAt}: ${inWords(imported.counts)}.`,
        `Start it with: ${invocation(settings)} serve`,
      ].join('\n'),
    );
  });
};
