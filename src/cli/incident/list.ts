import { incidentStatuses, severities, type IncidentStatusFilter } from '../../contract/storage/index.ts';
import { orgCommand, orgShape } from '../command.ts';
import { table } from '../output.ts';
import { actOnIncidents, incidentJson, word, type Add } from './common.ts';
import { z } from 'zod';

const filters: readonly IncidentStatusFilter[] = [...incidentStatuses, 'open'];
const shape = orgShape.extend({
  status: word(filters, 'status').optional(),
  severity: word(severities, 'severity').optional(),
  waitingOn: z.string().optional(),
});

export const list: Add = (group, output) => {
  const command = orgCommand(group, 'list', 'list incidents, newest first')
    .option('--status <status>', filters.join(', '))
    .option('--severity <severity>', severities.join(', '))
    .option('--waiting-on <who>', 'agent, human, external, none, or a name');
  actOnIncidents(command, output, shape, async ({ incidents }, { options: { status, severity, waitingOn } }) => {
    const { items } = await incidents.list({
      limit: 100,
      ...(status !== undefined && { statuses: [status] }),
      ...(severity !== undefined && { severities: [severity] }),
      ...(waitingOn !== undefined && { waitingOn: [waitingOn] }),
    });
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
