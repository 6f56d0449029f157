import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { severities } from '../../contract/storage/index.ts';
import { operator, orgCommand, orgShape } from '../command.ts';
import { readInput } from '../ingest.ts';
import { actOnIncidents, collect, defined, incidentJson, word, type Add } from './common.ts';

const shape = orgShape.extend({
  severity: word(severities, 'severity'),
  summary: z.string().optional(),
  service: z.array(z.string()).optional(),
  environment: z.string().optional(),
  assignee: z.string().optional(),
  startedAt: z.string().transform(time).optional(),
  document: z.string().transform(readInput).optional(),
});

export const create: Add = (group, output) => {
  const command = orgCommand(group, 'create <title>', 'open an incident')
    .option('--severity <severity>', severities.join(', '), 'unknown')
    .option('--summary <text>', 'what is known')
    .option('--service <name>', 'a service that it is about; several times for several', collect)
    .option('--environment <name>', 'such as production')
    .option('--assignee <address>', 'who cares for it')
    .option('--started-at <time>', 'RFC 3339 (default: now)')
    .option('--document <file>', 'Markdown, the first version of its document');
  actOnIncidents(command, output, shape, async ({ incidents }, { options, operands: [title = ''] }) => {
    const { org: _, service: services, startedAt = new Date(), ...rest } = options;
    const incident = await incidents.create(
      defined({ title, source: 'command line', startedAt, services, ...rest }),
      operator(),
    );
    output.result(incidentJson(incident), () => `${incident.key} is open.`);
  });
};

function time(text: string): Date {
  const read = z.iso.datetime({ offset: true }).safeParse(text);
  if (read.success) return new Date(read.data);
  throw new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 64))} is no time.`, {
    hint: 'Write it like 2026-03-01T14:00:00Z.',
  });
}
