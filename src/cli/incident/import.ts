import { act, operator } from '../command.ts';
import { readInput } from '../ingest.ts';
import { inOrganization, orgOption, orgShape } from './common.ts';
import type { Add } from './common.ts';
import { parseIncidents } from './import-file.ts';

export const importFile: Add = (group, output) => {
  const command = group
    .command('import')
    .argument('<file>')
    .description('create incidents from a JSON array; the whole file is checked first')
    .option(...orgOption);
  act(command, output, orgShape, async ({ settings, options, operands: [file = ''] }) => {
    const given = parseIncidents(readInput(file), file);
    await inOrganization(settings, options.org, async ({ incidents }) => {
      const keys: string[] = [];
      for (const incident of given) keys.push((await incidents.create(incident, operator())).key);
      output.result({ imported: keys.length, keys }, () => `Imported ${keys.length}: ${keys.join(', ')}`);
    });
  });
};
