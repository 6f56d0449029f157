import { z } from 'zod';
import { act, withWorkspace, type Register } from './command.ts';
import { table } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('org').description(summary);
  const create = group.command('create').argument('<name>').description('create an organization');
  act(create, output, z.object({}), async ({ settings, operands: [name = ''] }) => {
    const made = await withWorkspace(settings, ({ organizations }) => organizations.create(name));
    output.result({ id: made.id, name: made.name }, () => `Created organization ${made.name} (${made.id}).`);
  });

  const list = group.command('list').description('list the organizations');
  act(list, output, z.object({}), async ({ settings }) => {
    const all = await withWorkspace(settings, ({ storage }) => storage.directory.organizations());
    const rows = all.map(({ id, name, createdAt }) => ({ id, name, created_at: createdAt.toISOString() }));
    output.result(rows, () =>
      table(
        output,
        ['name', 'id', 'created'],
        rows.map(({ id, name, created_at }) => [name, id, created_at]),
        'There is no organization yet. Make one with: sightline org create NAME',
      ),
    );
  });
};
