import { z } from 'zod';
import { operations } from '../gateway/admin/index.ts';
import { shippedPlugins } from '../gateway/process/registry.ts';
import { actOnAdmin } from './admin.ts';
import { readInput } from './ingest.ts';
import { orgCommand, orgShape, toPaste, type Register } from './command.ts';
import { showRows, type Output } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('alert-source').description(summary);
  const secretOption = [
    '--secret-file <file>',
    'the secret that the sender made, as PagerDuty does; - reads standard input (default: one is made)',
  ] as const;

  const add = orgCommand(group, 'add', 'add a source; prints its secret, once, and what to set up in the sender')
    .option(
      '--plugin <name>',
      `${shippedPlugins('alerts').join(', ')}, or one of your own (required); alertmanager also for Grafana`,
    )
    .option('--name <name>', 'what it is called (required)')
    .option(...secretOption);
  const secretShape = orgShape.extend({ secretFile: z.string().transform(readSecret).optional() });
  const added = secretShape.extend({ plugin: z.string(), name: z.string() });
  actOnAdmin(add, output, added, async ({ admin, options }) => {
    const { plugin, name, secretFile: secret, org } = options;
    show(output, await admin.perform(operations.addAlertSource, { plugin, name, secret }, org));
  });

  const list = orgCommand(group, 'list', 'list the sources');
  actOnAdmin(list, output, orgShape, async ({ admin, options: { org } }) => {
    const { items: rows } = await admin.perform(operations.listAlertSources, {}, org);
    showRows(
      output,
      rows,
      ['id', 'name', 'plugin', 'created', 'address'],
      (row) => [row.id, row.name, row.plugin, row.created_at, row.url],
      `There is no alert source yet. Add one with: ${toPaste('sightline alert-source add --plugin generic --name NAME', org)}`,
    );
  });

  const rotate = orgCommand(
    group,
    'rotate <source>',
    'replace the secret of a source, by name or id; the old one is refused at once',
  ).option(...secretOption);
  actOnAdmin(rotate, output, secretShape, async ({ admin, options, operands: [source = ''] }) => {
    const { org, secretFile: secret } = options;
    show(output, await admin.perform(operations.rotateAlertSource, { source, secret }, org));
  });

  const remove = orgCommand(group, 'remove <source>', 'remove a source, by name or id; its incidents stay');
  actOnAdmin(remove, output, orgShape, async ({ admin, options: { org }, operands: [source = ''] }) => {
    await admin.perform(operations.removeAlertSource, { source }, org);
    output.result({ removed: true }, () => 'The alert source is removed. What it sends is refused from now on.');
  });
};

function readSecret(file: string): string {
  return readInput(file === '-' ? '/dev/stdin' : file).trim();
}

function show(output: Output, made: z.output<typeof operations.addAlertSource.output>): void {
  output.result(made, () =>
    [
      `id       ${made.id}`,
      `address  ${made.url}`,
      `secret   ${made.secret}`,
      'Keep the secret now: it is not shown again.',
      '',
      made.instructions,
    ].join('\n'),
  );
}
