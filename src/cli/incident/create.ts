import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { severities } from '../../contract/storage/index.ts';
import { act, operator, orgOption, orgShape } from '../command.ts';
import { readInput } from '../ingest.ts';
import { collect, incidentJson, inOrganization, oneOf, type Add } from './common.ts';

const shape = orgShape.extend({
  severity: z.string(),
  summary: z.string().optional(),
  service: z.array(z.string()).optional(),
  environment: z.string().optional(),
  assignee: z.string().optional(),
  startedAt: z.string().optional(),
  document: z.string().optional(),
});

export const create: Add = (group, output) => {
  const command = group
    .command('create')
    .argument('<title>')
    .description('open an incident')
    .option(...orgOption)
    .option('--severity <severity>', severities.join(', '), 'unknown')
    .option('--summary <text>', 'what is known')
    .option('--service <name>', 'a service that it is about; several times for several', collect)
    .option('--environment <name>', 'such as production')
    .option('--assignee <address>', 'who cares for it')
    .option('--started-at <time>', 'RFC 3339 (default: now)')
    .option('--document <file>', 'Markdown, the first version of its document');
  act(command, output, shape, async ({ settings, options, operands: [title = ''] }) => {
    const { org, severity, service, startedAt, document, ...rest } = options;
    const incident = await inOrganization(settings, org, ({ incidents }) =>
      incidents.create(
        {
          title,
          severity: oneOf(severity, severities, 'severity'),
          source: 'command line',
          startedAt: startedAt === undefined ? new Date() : time(startedAt),
          ...(service !== undefined && { services: service }),
          ...(document !== undefined && { document: readInput(document) }),
          ...(rest.summary !== undefined && { summary: rest.summary }),
          ...(rest.environment !== undefined && { environment: rest.environment }),
          ...(rest.assignee !== undefined && { assignee: rest.assignee }),
        },
        operator(),
      ),
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
