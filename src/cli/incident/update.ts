import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { incidentStatuses, severities, waitingParties } from '../../contract/storage/index.ts';
import { operator, orgCommand, orgShape } from '../command.ts';
import { actOnIncidents, collect, defined, findIncident, incidentJson, waitingText, word, type Add } from './common.ts';

const text = z.string().optional();
const shape = orgShape.extend({
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
    .option('--assignee <address>', 'who cares for it; empty for nobody')
    .option(
      '--service <name>',
      'a service that it is about, in place of those so far; several times for several',
      collect,
    )
    .option('--waiting-on <party>', waitingParties.join(', '))
    .option('--waiting-name <name>', 'the address of a member, or who it is outside')
    .option('--waiting-reason <text>', 'why');
  actOnIncidents(command, output, shape.transform(patchOf), async (workspace, { options, operands: [key = ''] }) => {
    const { id } = await findIncident(workspace, key);
    const changed = await workspace.incidents.update(id, options.patch, operator());
    output.result(
      incidentJson(changed),
      () => `${changed.key} is ${changed.status}, ${changed.severity}, and waits on ${waitingText(changed.waitingOn)}.`,
    );
  });
};

function patchOf(given: z.output<typeof shape>) {
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
