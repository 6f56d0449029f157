import { z } from 'zod';
import { resolutions } from '../../contract/storage/index.ts';
import { operator, orgCommand, orgShape } from '../command.ts';
import { actOnIncidents, defined, findIncident, incidentJson, word, type Add } from './common.ts';

export const resolve: Add = (group, output) => {
  const command = orgCommand(group, 'resolve <key>', 'say that an incident is over, and how it ended')
    .option('--as <resolution>', `${resolutions.join(', ')} (required)`)
    .option('--duplicate-of <key>', 'the incident that a duplicate repeats');
  const shape = orgShape.extend({ as: word(resolutions, 'resolution'), duplicateOf: z.string().optional() });
  actOnIncidents(command, output, shape, async (workspace, { options, operands: [key = ''] }) => {
    const { as: kind, duplicateOf } = options;
    const { id } = await findIncident(workspace, key);
    const resolution = defined({ kind, duplicateOf });
    const changed = await workspace.incidents.update(id, { status: 'resolved', resolution }, operator());
    output.result(
      { ...incidentJson(changed), resolution: kind, duplicate_of: changed.resolution?.duplicateOf },
      () => `${changed.key} is resolved: ${kind}.`,
    );
  });
};
