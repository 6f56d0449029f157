import { z } from 'zod';
import type { AddressedSource, SourceWithSecret } from '../gateway/wiring/workspace.ts';
import { shippedPlugins } from '../gateway/process/registry.ts';
import { readInput } from './ingest.ts';
import { actInOrganization, operator, orgCommand, orgShape, type Register } from './command.ts';
import { table, type Output } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('alert-source').description(summary);
  const secretOption = [
    '--secret-file <file>',
    'the secret that the sender made, as PagerDuty does; - reads standard input (default: one is made)',
  ] as const;

  const add = orgCommand(group, 'add', 'add a source; its secret is shown this once, with what to set up in the sender')
    .option(
      '--plugin <name>',
      `${shippedPlugins('alerts').join(', ')}, or one of your own (required); alertmanager also for Grafana`,
    )
    .option('--name <name>', 'what it is called (required)')
    .option(...secretOption);
  const secretShape = orgShape.extend({ secretFile: z.string().transform(readSecret).optional() });
  const added = secretShape.extend({ plugin: z.string(), name: z.string() });
  actInOrganization(add, output, added, async ({ workspace, organization, options }) => {
    const { plugin, name, secretFile: secret } = options;
    const sources = await workspace.alertSources();
    const made = await sources.add({ organizationId: organization.id, plugin, name, actor: operator(), secret });
    show(output, made, sources.instructions(made.source, made.secret));
  });

  const list = orgCommand(group, 'list', 'list the sources');
  actInOrganization(list, output, orgShape, async ({ workspace, organization: { id } }) => {
    const rows = (await (await workspace.alertSources()).list(id)).map(describe);
    output.result(rows, () =>
      table(
        output,
        ['id', 'name', 'plugin', 'created', 'address'],
        rows.map((row) => [row.id, row.name, row.plugin, row.created_at, row.url]),
        'There is no alert source yet. Add one with: sightline alert-source add --plugin generic --name NAME',
      ),
    );
  });

  const rotate = orgCommand(
    group,
    'rotate <source>',
    'give a source, by name or id, another secret; the one before ends at once',
  ).option(...secretOption);
  actInOrganization(
    rotate,
    output,
    secretShape,
    async ({ workspace, organization, options, operands: [name = ''] }) => {
      const sources = await workspace.alertSources();
      const made = await sources.rotate(organization.id, name, operator(), options.secretFile);
      show(output, made, sources.instructions(made.source, made.secret));
    },
  );

  const remove = orgCommand(group, 'remove <source>', 'remove a source, by name or id; what it sent stays');
  actInOrganization(remove, output, orgShape, async ({ workspace, organization, operands: [source = ''] }) => {
    await (await workspace.alertSources()).remove(organization.id, source, operator());
    output.result({ removed: true }, () => 'The alert source is removed. What it sends is refused from now on.');
  });
};

function readSecret(file: string): string {
  return readInput(file === '-' ? '/dev/stdin' : file).trim();
}

function show(output: Output, { source, secret }: SourceWithSecret, instructions: string): void {
  output.result({ ...describe(source), secret, instructions }, () =>
    [
      `id       ${source.id}`,
      `address  ${source.url}`,
      `secret   ${secret}`,
      'Keep the secret now: it is not shown again.',
      '',
      instructions,
    ].join('\n'),
  );
}

function describe({ id, name, plugin, url, createdAt, createdBy }: AddressedSource) {
  return { id, name, plugin, url, created_at: createdAt.toISOString(), created_by: createdBy };
}
