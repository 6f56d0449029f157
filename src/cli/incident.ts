import { z } from 'zod';
import { type Register, operator, orgCommand, orgShape } from './command.ts';
import { create, resolve, update } from './incident/write.ts';
import { importFile } from './incident/import-file.ts';
import { list, show, timeline } from './incident/read.ts';
import { SightlineError } from '../contract/core/index.ts';
import { readInput } from './ingest.ts';
import { printable, table } from './output.ts';
import { actOnIncidents, findIncident, type Add } from './incident/common.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('incident').description(summary);
  for (const add of [list, show, create, update, resolve, timeline, document, importFile]) add(group, output);
};

const longest = 500_000;
const shape = orgShape.extend({
  revision: z.string().optional(),
  versions: z.boolean().optional(),
  write: z.string().transform(contentOf).optional(),
});

export const document: Add = (group, output) => {
  const command = orgCommand(
    group,
    'document <key>',
    "an incident's document: print it, list its versions, or write a new one",
  )
    .option('--revision <number>', 'an older version')
    .option('--versions', 'who wrote which version and when')
    .option('--write <file>', 'write a new version from Markdown');
  actOnIncidents(command, output, shape, async (workspace, { options, operands: [key = ''] }) => {
    const { id, key: name } = await findIncident(workspace, key, options.org);
    if (options.write !== undefined) {
      const { version } = await workspace.incidents.writeDocument(id, options.write, operator());
      return output.result({ key: name, version }, () => `${name} has version ${version} of its document.`);
    }
    if (options.versions === true) {
      const rows = (await workspace.incidents.documentVersions(id)).map(({ version, author, updatedAt }) => ({
        version,
        author: { kind: author.kind, name: author.name },
        updated_at: updatedAt.toISOString(),
      }));
      const cells = rows.map((row) => [String(row.version), row.author.name, row.updated_at]);
      return output.result(rows, () => table(output, ['version', 'author', 'time'], cells, 'It has no document.'));
    }
    const found = await workspace.incidents.document(id, numberOf(options.revision));
    if (found === undefined) throw new SightlineError('not_found', `${name} has no such document.`);
    output.result({ version: found.version, author: found.author.name, markdown: found.markdown }, () =>
      printable(found.markdown),
    );
  });
};

function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new SightlineError('invalid_argument', 'A version is a number from 1.');
}

function contentOf(file: string): string {
  const markdown = readInput(file);
  if (markdown.length <= longest) return markdown;
  throw new SightlineError('invalid_argument', `A document has at most ${longest} characters.`);
}
