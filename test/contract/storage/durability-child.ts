import { z } from 'zod';
import type { Storage } from '../../../src/contract/storage/index.ts';
import { testHost } from '../host.ts';
import { ada, newChat, newGrant, newIncident, newInvitation, newKey, soon } from './stage.ts';

/*
 * A process of its own that writes and tells on its standard output what was acknowledged, one JSON line each, until it is
 * killed. Its argument is a StorageProcess as JSON.
 */

const argument = z.object({ module: z.string(), config: z.unknown(), dataDirectory: z.string() });
const plugin = z.object({
  configSchema: z.custom<z.ZodType>((value) => value instanceof Object && 'parse' in value),
  create: z.custom<(config: unknown, host: unknown) => Storage>((value) => typeof value === 'function'),
});

const { module, config, dataDirectory } = argument.parse(JSON.parse(process.argv[2] ?? ''));
const imported: unknown = await import(module);
const { configSchema, create } = z.object({ default: plugin }).parse(imported).default;
const storage = create(configSchema.parse(config), testHost(dataDirectory));
await storage.start(soon());

function tell(fact: object): void {
  process.stdout.write(`${JSON.stringify(fact)}\n`);
}

const { id } = await storage.directory.createOrganization({ name: `Process ${process.pid}` });
tell({ organization: id });
const workspace = storage.workspace(id);
for (;;) {
  const key = await workspace.keys.create(newKey());
  tell({ key: key.id });
  const invitation = newInvitation();
  await workspace.invitations.create(invitation);
  const account = { kind: 'password', name: 'Invited', hash: 'h' } as const;
  const user = await storage.directory.people.acceptInvitation(invitation.hash, account);
  if (user === undefined) throw new Error('the invitation was not open');
  tell({ person: user.id });
  const grant = newGrant(user.id);
  await workspace.grants.create(grant);
  tell({ grant: grant.id });
  const incident = await workspace.incidents.create(newIncident({ document: 'x'.repeat(10_000) }), ada);
  tell({ incident: incident.id, number: incident.number });
  const { chat } = await workspace.chats.start(newChat({ incidentId: incident.id }));
  tell({ chat: chat.id });
  const { message } = await workspace.chats.reply(chat.id, { message: 'more', author: ada, engine: 'e' });
  tell({ chat: chat.id, message: message.id });
}
