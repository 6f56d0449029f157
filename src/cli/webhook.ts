import { z } from 'zod';
import { SightlineError } from '../contract/core/index.ts';
import { webhookEvents, type WebhookEvent } from '../contract/storage/index.ts';
import { operations } from '../gateway/admin/index.ts';
import { actOnAdmin } from './admin.ts';
import { orgCommand, orgShape, toPaste, type Register } from './command.ts';
import { showRows } from './output.ts';

export const register: Register = (program, output, summary) => {
  const group = program.command('webhook').description(summary);

  const add = orgCommand(
    group,
    'add <url>',
    'add an address; prints the secret that verifies its requests, once',
  ).option('--events <list>', `comma-separated (default: all): ${webhookEvents.join(',')}`);
  const added = orgShape.extend({ events: z.string().transform(eventList).default(webhookEvents) });
  actOnAdmin(add, output, added, async ({ admin, options: { org, events }, operands: [url = ''] }) => {
    const made = await admin.perform(operations.addWebhook, { url, events: [...events] }, org);
    output.result(made, () =>
      [
        `id      ${made.id}`,
        `secret  ${made.secret}`,
        '',
        'The secret is not shown again. Try it with:',
        `  ${toPaste(`sightline webhook test ${made.id}`, org)}`,
        ...(made.address.startsWith('http:')
          ? ['', 'The address is not https: anybody on the network path can read the events.']
          : []),
      ].join('\n'),
    );
  });

  const list = orgCommand(group, 'list', 'list the webhooks and their deliveries');
  actOnAdmin(list, output, orgShape, async ({ admin, options: { org } }) => {
    const { items: rows } = await admin.perform(operations.listWebhooks, {}, org);
    showRows(
      output,
      rows,
      ['id', 'address', 'events', 'waiting', 'last taken', 'last given up'],
      (row) => [
        row.id,
        row.address,
        row.events.length === webhookEvents.length ? 'all' : row.events.join(' '),
        String(row.waiting),
        row.delivered_at ?? 'never',
        row.failed_at === null ? 'never' : `${row.failed_at}: ${row.failure ?? ''}`,
      ],
      `There is no webhook yet. Make one with: ${toPaste('sightline webhook add URL', org)}`,
    );
  });

  const test = orgCommand(group, 'test <id>', 'send an event of type webhook.test now');
  actOnAdmin(test, output, orgShape, async ({ admin, options: { org }, operands: [webhook = ''] }) => {
    await admin.perform(operations.testWebhook, { id: webhook }, org);
    output.result({ id: webhook, taken: true }, () => 'The receiver took it.');
  });

  const remove = orgCommand(group, 'remove <id>', 'remove a webhook; events that wait are dropped');
  actOnAdmin(remove, output, orgShape, async ({ admin, options: { org }, operands: [webhook = ''] }) => {
    await admin.perform(operations.removeWebhook, { id: webhook }, org);
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
