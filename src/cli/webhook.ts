import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { webhookEvents, type Webhook, type WebhookEvent } from '../contract/storage/index.ts';
import { actInOrganization, operator, orgCommand, orgShape, type Register } from './command.ts';
import { table } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('webhook').description(summary);

  const add = orgCommand(
    group,
    'add <url>',
    'tell this address of changes; the secret it verifies them by is shown this once',
  ).option('--events <list>', `comma-separated (default: all): ${webhookEvents.join(',')}`);
  const added = orgShape.extend({ events: z.string().transform(eventList).default(webhookEvents) });
  actInOrganization(
    add,
    output,
    added,
    async ({ workspace, organization, options: { events }, operands: [url = ''] }) => {
      const { webhook, secret } = await workspace.webhooks.add({
        organizationId: organization.id,
        url,
        events,
        actor: operator(),
      });
      output.result({ ...describe(webhook), secret }, () =>
        [
          `id      ${webhook.id}`,
          `secret  ${secret}`,
          '',
          'The secret is not shown again. Try it with:',
          `  sightline webhook test ${webhook.id}`,
          ...(webhook.url.startsWith('http:')
            ? ['', 'The address is not https: anybody on the network path can read the events.']
            : []),
        ].join('\n'),
      );
    },
  );

  const list = orgCommand(group, 'list', 'list the webhooks and how they fare');
  actInOrganization(list, output, orgShape, async ({ workspace, organization: { id } }) => {
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

  const test = orgCommand(group, 'test <id>', 'send it an event of type webhook.test now');
  actInOrganization(test, output, orgShape, async ({ workspace, organization, operands: [webhook = ''] }) => {
    const failure = await workspace.webhooks.test(organization.id, webhook);
    if (failure !== undefined) throw new SightlineError('unavailable', `The receiver did not take it: ${failure}.`);
    output.result({ id: webhook, taken: true }, () => 'The receiver took it.');
  });

  const remove = orgCommand(group, 'remove <id>', 'tell it no more; what was on its way is dropped');
  actInOrganization(remove, output, orgShape, async ({ workspace, organization, operands: [webhook = ''] }) => {
    await workspace.webhooks.remove(organization.id, webhook, operator());
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
