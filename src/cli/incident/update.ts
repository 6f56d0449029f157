import { z } from 'zod';
import { SightlineError } from '../../contract/core/index.ts';
import { incidentStatuses, severities, waitingParties, type IncidentPatch } from '../../contract/storage/index.ts';
import { act, operator, orgOption, orgShape } from '../command.ts';
import { collect, findIncident, incidentJson, inOrganization, oneOf, waitingText, type Add } from './common.ts';

const text = z.string().optional();
const shape = orgShape.extend({
  status: text,
  severity: text,
  title: text,
  summary: text,
  assignee: text,
  service: z.array(z.string()).optional(),
  waitingOn: text,
  waitingName: text,
  waitingReason: text,
});

export const update: Add = (group, output) => {
  const command = group
    .command('update')
    .argument('<key>')
    .description('change an incident; each change stands in its timeline')
    .option(...orgOption)
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
  act(command, output, shape, async ({ settings, options, operands: [key = ''] }) => {
    const { org, ...given } = options;
    const patch = patchOf(given);
    if (Object.keys(patch).length === 0) throw new SightlineError('invalid_argument', 'Nothing was said to change.');
    await inOrganization(settings, org, async (workspace) => {
      const { id } = await findIncident(workspace, key);
      const changed = await workspace.incidents.update(id, patch, operator());
      output.result(
        incidentJson(changed),
        () =>
          `${changed.key} is ${changed.status}, ${changed.severity}, and waits on ${waitingText(changed.waitingOn)}.`,
      );
    });
  });
};

function patchOf(given: Omit<z.output<typeof shape>, 'org'>): IncidentPatch {
  const {
    status,
    severity,
    title,
    summary,
    assignee,
    service,
    waitingOn,
    waitingName: name,
    waitingReason: reason,
  } = given;
  if (waitingOn === undefined && (name ?? reason) !== undefined) {
    throw new SightlineError('invalid_argument', 'Say who it waits on with --waiting-on.');
  }
  return {
    ...(status !== undefined && { status: oneOf(status, incidentStatuses, 'status') }),
    ...(severity !== undefined && { severity: oneOf(severity, severities, 'severity') }),
    ...(title !== undefined && { title }),
    ...(summary !== undefined && { summary }),
    ...(assignee !== undefined && { assignee: assignee === '' ? null : assignee }),
    ...(service !== undefined && { services: service }),
    ...(waitingOn !== undefined && {
      waitingOn: {
        party: oneOf(waitingOn, waitingParties, 'party'),
        ...(name !== undefined && { name }),
        ...(reason !== undefined && { reason }),
      },
    }),
  };
}
