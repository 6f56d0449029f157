import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import {
  incidentStatuses,
  requireMembers,
  resolutions,
  severities,
  waitingParties,
} from '../../contract/storage/index.ts';
import { operator, orgCommand, orgShape } from '../command.ts';
import { readInput } from '../ingest.ts';
import { actOnIncidents, type Add, collect, defined, findIncident, incidentJson, waitingText, word } from './common.ts';

const text = z.string().optional();
const updateShape = orgShape.extend({
  status: word(incidentStatuses, 'status').optional(),
  severity: word(severities, 'severity').optional(),
  title: text,
  summary: text,
  assignee: text,
  service: z.array(z.string()).optional(),
  waitingOn: word(waitingParties, 'party').optional(),
  waitingName: text,
  waitingReason: text,
});

export const update: Add = (group, output) => {
  const command = orgCommand(group, 'update <key>', 'change an incident; each change stands in its timeline')
    .option('--status <status>', incidentStatuses.join(', '))
    .option('--severity <severity>', severities.join(', '))
    .option('--title <text>', 'what it is called')
    .option('--summary <text>', 'what is known')
    .option('--assignee <address>', 'the member who is responsible; empty for none')
    .option(
      '--service <name>',
      'a service that it is about, in place of those so far; several times for several',
      collect,
    )
    .option('--waiting-on <party>', waitingParties.join(', '))
    .option('--waiting-name <name>', 'the address of a member, or who it is outside')
    .option('--waiting-reason <text>', 'why');
  actOnIncidents(
    command,
    output,
    updateShape.transform(patchOf),
    async (workspace, { options, operands: [key = ''] }) => {
      const { org, patch } = options;
      const { id } = await findIncident(workspace, key, org);
      await requireMembers(workspace.members, patch);
      const changed = await workspace.incidents.update(id, patch, operator());
      const assigned = patch.assignee === undefined ? '' : ` assigned to ${changed.assignee ?? 'nobody'},`;
      output.result(
        incidentJson(changed),
        () =>
          `${changed.key} is ${changed.status}, ${changed.severity},${assigned} and waits on ${waitingText(changed.waitingOn)}.`,
      );
    },
  );
};

function patchOf(given: z.output<typeof updateShape>) {
  const {
    org,
    assignee,
    service: services,
    waitingOn: party,
    waitingName: name,
    waitingReason: reason,
    ...same
  } = given;
  if (party === undefined && (name ?? reason) !== undefined) {
    throw new SightlineError('invalid_argument', 'Say who it waits on with --waiting-on.');
  }
  const patch = defined({
    ...same,
    assignee: assignee === '' ? null : assignee,
    services,
    waitingOn: party && defined({ party, name, reason }),
  });
  if (Object.keys(patch).length === 0) throw new SightlineError('invalid_argument', 'Nothing was said to change.');
  return { org, patch };
}

export const resolve: Add = (group, output) => {
  const command = orgCommand(group, 'resolve <key>', 'resolve an incident')
    .option('--as <resolution>', `${resolutions.join(', ')} (required)`)
    .option('--duplicate-of <key>', 'the incident that a duplicate repeats');
  const updateShape = orgShape.extend({ as: word(resolutions, 'resolution'), duplicateOf: z.string().optional() });
  actOnIncidents(command, output, updateShape, async (workspace, { options, operands: [key = ''] }) => {
    const { org, as: kind, duplicateOf } = options;
    const { id } = await findIncident(workspace, key, org);
    const resolution = defined({ kind, duplicateOf });
    const changed = await workspace.incidents.update(id, { status: 'resolved', resolution }, operator());
    output.result(
      { ...incidentJson(changed), resolution: kind, duplicate_of: changed.resolution?.duplicateOf },
      () => `${changed.key} is resolved: ${kind}.`,
    );
  });
};

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
    .option('--assignee <address>', 'the member who is responsible')
    .option('--started-at <time>', 'RFC 3339 (default: now)')
    .option('--document <file>', 'Markdown, the first version of its document');
  actOnIncidents(command, output, shape, async ({ incidents, members }, { options, operands: [title = ''] }) => {
    const { org: _, service: services, startedAt = new Date(), ...rest } = options;
    await requireMembers(members, defined({ assignee: rest.assignee }));
    const incident = await incidents.create(
      defined({ title, source: 'command line', startedAt, services, ...rest }),
      operator(),
    );
    output.result(
      incidentJson(incident),
      () => `${incident.key} is open${incident.assignee === undefined ? '' : `, assigned to ${incident.assignee}`}.`,
    );
  });
};

function time(text: string): Date {
  const read = z.iso.datetime({ offset: true }).safeParse(text);
  if (read.success) return new Date(read.data);
  throw new SightlineError('invalid_argument', `${JSON.stringify(text.slice(0, 64))} is no time.`, {
    hint: 'Write it like 2026-03-01T14:00:00Z.',
  });
}
