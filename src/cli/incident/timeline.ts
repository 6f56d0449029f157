import { orgCommand, orgShape } from '../command.ts';
import { table } from '../output.ts';
import { actOnIncidents, findIncident, type Add } from './common.ts';

export const timeline: Add = (group, output) => {
  const command = orgCommand(group, 'timeline <key>', 'who changed what and when, oldest first');
  actOnIncidents(command, output, orgShape, async (workspace, { operands: [key = ''] }) => {
    const entries = await workspace.incidents.timeline((await findIncident(workspace, key)).id);
    const rows = entries.map(({ at, actor, change, from, to }) => ({
      at: at.toISOString(),
      actor: { kind: actor.kind, name: actor.name },
      change,
      from,
      to,
    }));
    output.result(rows, () =>
      table(
        output,
        ['time', 'who', 'what', 'from', 'to'],
        rows.map((row) => [row.at, row.actor.name, row.change, row.from ?? '', row.to ?? '']),
        'Nothing has changed yet.',
      ),
    );
  });
};
