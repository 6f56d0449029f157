import { z } from 'zod';
import { incidentStatuses, SightlineError } from '../contract/index.ts';
import type { IncidentStatusFilter } from '../contract/index.ts';
import { act, findOrganization, operator, withWorkspace } from './command.ts';
import type { Register } from './command.ts';
import { readInput } from './ingest.ts';
import { parseIncidents } from './incident-file.ts';
import { table } from './output.ts';

const filters: readonly string[] = [...incidentStatuses, 'open'];

export const register: Register = (program, output, summary) => {
  const group = program.command('incident').description(summary);
  const orgOption = ['--org <name>', 'organization, by name or id (default: the only one)'] as const;

  const load = group
    .command('import')
    .argument('<file>')
    .description('create incidents from a JSON array; the whole file is checked first')
    .option(...orgOption);
  act(load, output, z.object({ org: z.string().optional() }), async ({ settings, options, operands: [file = ''] }) => {
    const incidents = parseIncidents(readInput(file), file);
    await withWorkspace(settings, async (workspace) => {
      const { id } = await findOrganization(workspace, options.org);
      const repository = workspace.storage.workspace(id).incidents;
      const keys: string[] = [];
      for (const incident of incidents) keys.push((await repository.create(incident, operator())).key);
      output.result({ imported: keys.length, keys }, () => `Imported ${keys.length}: ${keys.join(', ')}`);
    });
  });

  const list = group
    .command('list')
    .description('list incidents, newest first')
    .option(...orgOption)
    .option('--status <status>', `${filters.join(', ')}`);
  const listShape = z.object({ org: z.string().optional(), status: z.string().optional() });
  act(list, output, listShape, async ({ settings, options }) => {
    const statuses = options.status === undefined ? undefined : [statusFilter(options.status)];
    await withWorkspace(settings, async (workspace) => {
      const { id } = await findOrganization(workspace, options.org);
      const { items } = await workspace.storage
        .workspace(id)
        .incidents.list({ limit: 100, ...(statuses !== undefined && { statuses }) });
      const rows = items.map((item) => ({
        id: item.id,
        key: item.key,
        title: item.title,
        status: item.status,
        severity: item.severity,
        waiting_on: item.waitingOn.party,
        started_at: item.startedAt.toISOString(),
      }));
      output.result(rows, () =>
        table(
          output,
          ['key', 'status', 'severity', 'waits on', 'started', 'title'],
          rows.map((row) => [row.key, row.status, row.severity, row.waiting_on, row.started_at, row.title]),
          'There is no such incident.',
        ),
      );
    });
  });

  const status = group
    .command('status')
    .argument('<key>')
    .argument('<status>')
    .description(`move an incident to another status: ${incidentStatuses.join(', ')}`)
    .option(...orgOption);
  act(
    status,
    output,
    z.object({ org: z.string().optional() }),
    async ({ settings, options, operands: [key = '', to = ''] }) => {
      const target = incidentStatuses.find((each) => each === to);
      if (target === undefined) throw unknownStatus(to, incidentStatuses);
      await withWorkspace(settings, async (workspace) => {
        const { id } = await findOrganization(workspace, options.org);
        const repository = workspace.storage.workspace(id).incidents;
        const found = await repository.get(key);
        if (found === undefined)
          throw new SightlineError('not_found', `There is no incident ${JSON.stringify(key.slice(0, 64))}.`);
        const changed = await repository.update(found.id, { status: target }, operator());
        output.result({ key: changed.key, status: changed.status }, () => `${changed.key} is ${changed.status}.`);
      });
    },
  );
};

function statusFilter(text: string): IncidentStatusFilter {
  const known = text === 'open' ? text : incidentStatuses.find((each) => each === text);
  if (known === undefined) throw unknownStatus(text, filters);
  return known;
}

function unknownStatus(text: string, known: readonly string[]): SightlineError {
  return new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 64))} is no status.`, {
    hint: `Known: ${known.join(', ')}`,
  });
}
