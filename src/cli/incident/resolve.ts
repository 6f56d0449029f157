import { z } from 'zod';
import { resolutions } from '../../contract/storage/index.ts';
import { act, operator, orgOption, orgShape } from '../command.ts';
import { findIncident, incidentJson, inOrganization, oneOf, type Add } from './common.ts';

export const resolve: Add = (group, output) => {
  const command = group
    .command('resolve')
    .argument('<key>')
    .description('say that an incident is over, and how it ended')
    .option(...orgOption)
    .option('--as <resolution>', `${resolutions.join(', ')} (required)`)
    .option('--duplicate-of <key>', 'the incident that a duplicate repeats');
  const shape = orgShape.extend({ as: z.string(), duplicateOf: z.string().optional() });
  act(command, output, shape, async ({ settings, options, operands: [key = ''] }) => {
    const kind = oneOf(options.as, resolutions, 'resolution');
    const { duplicateOf } = options;
    await inOrganization(settings, options.org, async (workspace) => {
      const { id } = await findIncident(workspace, key);
      const resolution = { kind, ...(duplicateOf !== undefined && { duplicateOf }) };
      const changed = await workspace.incidents.update(id, { status: 'resolved', resolution }, operator());
      output.result(
        { ...incidentJson(changed), resolution: kind, duplicate_of: changed.resolution?.duplicateOf },
        () => `${changed.key} is resolved: ${kind}.`,
      );
    });
  });
};
