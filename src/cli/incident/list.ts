import { incidentStatuses, severities, type IncidentStatusFilter } from '../../contract/storage/index.ts';
import { act, orgOption, orgShape } from '../command.ts';
import { table } from '../output.ts';
import { incidentJson, inOrganization, oneOf, type Add } from './common.ts';
import { z } from 'zod';

const filters: readonly IncidentStatusFilter[] = [...incidentStatuses, 'open'];
const shape = orgShape.extend({
  status: z.string().optional(),
  severity: z.string().optional(),
  waitingOn: z.string().optional(),
});

export const list: Add = (group, output) => {
  const command = group
    .command('list')
    .description('list incidents, newest first')
    .option(...orgOption)
    .option('--status <status>', filters.join(', '))
    .option('--severity <severity>', severities.join(', '))
    .option('--waiting-on <who>', 'agent, human, external, none, or a name');
  act(command, output, shape, async ({ settings, options }) => {
    const { status, severity, waitingOn } = options;
    const filter = {
      ...(status !== undefined && { statuses: [oneOf(status, filters, 'status')] }),
      ...(severity !== undefined && { severities: [oneOf(severity, severities, 'severity')] }),
      ...(waitingOn !== undefined && { waitingOn: [waitingOn] }),
    };
    const { items } = await inOrganization(settings, options.org, ({ incidents }) =>
      incidents.list({ limit: 100, ...filter }),
    );
    const rows = items.map(incidentJson);
    output.result(rows, () =>
      table(
        output,
        ['key', 'status', 'severity', 'waits on', 'started', 'title'],
        rows.map((row) => [row.key, row.status, row.severity, row.waiting_on, row.started_at, row.title]),
        'There is no such incident.',
      ),
    );
  });
};
