import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { webhookEvents, type Webhook, type WebhookEvent } from '../contract/storage/index.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { act, findOrganization, operator, orgOption, orgShape, withWorkspace, type Register } from './command.ts';
import { table } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('webhook').description(summary);

  const add = group
    .command('add')
    .argument('<url>')
    .description('tell this address of changes; the secret it verifies them by is shown this once')
    .option(...orgOption)
    .option('--events <list>', `comma-separated (default: all): ${webhookEvents.join(',')}`);
  const added = orgShape.extend({ events: z.string().optional() });
  act(add, output, added, async ({ settings, options, operands: [url = ''] }) => {
    const events = options.events === undefined ? webhookEvents : eventList(options.events);
    await withWorkspace(settings, async (workspace) => {
      const { id } = await findOrganization(workspace, options.org);
      const made = await workspace.webhooks.add({ organizationId: id, url, events, actor: operator() });
      output.result({ ...describe(made.webhook), secret: made.secret }, () =>
        [
          `id      ${made.webhook.id}`,
          `secret  ${made.secret}`,
          '',
          'The secret is not shown again. Try it with:',
          `  sightline webhook test ${made.webhook.id}`,
          ...(made.webhook.url.startsWith('http:')
            ? ['', 'The address is not https: anybody on the network path can read the events.']
            : []),
        ].join('\n'),
      );
    });
  });

  const list = group
    .command('list')
    .description('list the webhooks and how they fare')
    .option(...orgOption);
  act(list, output, orgShape, async ({ settings, options }) => {
    await withWorkspace(settings, async (workspace) => {
      const { id } = await findOrganization(workspace, options.org);
      const rows = (await workspace.storage.workspace(id).webhooks.list()).map(describe);
      output.result(rows, () =>
        table(
          output,
          ['id', 'address', 'events', 'waiting', 'last taken', 'last given up'],
          rows.map((row) => [
            row.id,
            row.address,
            row.events.length === webhookEvents.length ? 'all' : row.events.join(' '),
            String(row.waiting),
            row.delivered_at ?? 'never',
            row.failed_at === null ? 'never' : `${row.failed_at}: ${row.failure ?? ''}`,
          ]),
          'There is no webhook yet. Make one with: sightline webhook add URL',
        ),
      );
    });
  });

  const test = group
    .command('test')
    .argument('<id>')
    .description('send it an event of type webhook.test now')
    .option(...orgOption);
  act(test, output, orgShape, async ({ settings, options, operands: [webhook = ''] }) => {
    const failure = await withWorkspace(settings, async (workspace) =>
      workspace.webhooks.test((await findOrganization(workspace, options.org)).id, webhook),
    );
    if (failure !== undefined) throw new SightlineError('unavailable', `The receiver did not take it: ${failure}.`);
    output.result({ id: webhook, taken: true }, () => 'The receiver took it.');
  });

  const remove = group
    .command('remove')
    .argument('<id>')
    .description('tell it no more; what was on its way is dropped')
    .option(...orgOption);
  act(remove, output, orgShape, async ({ settings, options, operands: [webhook = ''] }) => {
    await withWorkspace(settings, async (workspace: OpenWorkspace) =>
      workspace.webhooks.remove((await findOrganization(workspace, options.org)).id, webhook, operator()),
    );
    output.result({ id: webhook, removed: true }, () => `${webhook} is removed.`);
  });
};

function eventList(text: string): readonly WebhookEvent[] {
  const events = z.array(z.enum(webhookEvents)).safeParse(text.split(',').map((event) => event.trim()));
  if (events.success) return [...new Set(events.data)];
  throw new SightlineError('invalid_argument', '--events names an event that there is not.', {
    hint: `There are ${webhookEvents.join(', ')}.`,
  });
}

/** Without path and query of the address, in which many a receiver has its key. */
function describe({ id, url, events, waiting, createdAt, deliveredAt, failedAt, failure }: Webhook) {
  return {
    id,
    address: new URL(url).origin,
    events,
    waiting,
    created_at: createdAt.toISOString(),
    delivered_at: deliveredAt?.toISOString() ?? null,
    failed_at: failedAt?.toISOString() ?? null,
    failure: failure ?? null,
  };
}
