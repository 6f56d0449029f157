import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { toId } from '../../../src/contract/core/index.ts';
import type { Storage, Workspace } from '../../../src/contract/storage/index.ts';
import type { Runner } from '../runner.ts';
import { ada, type MakeStorage, newIncident, ownStage, present, type StorageProcess } from './stage.ts';

type Fact = Readonly<Record<string, string | number>>;

/** What was acknowledged outlives the process that was told so. */
export function durabilityPromises(runner: Runner, make: MakeStorage): void {
  const { describe, it, expect } = runner;

  describe('a process that is killed', () => {
    const stage = ownStage(runner, make);

    it('loses nothing that was acknowledged, and leaves nothing half done', async () => {
      for (const acknowledged of [1, 2, 3, 5, 40]) {
        const facts = await killedAfter(stage().store.process, acknowledged);
        const workspace = await owner(stage().storage, facts);
        for (const fact of facts) expect([fact, await isThere(workspace, fact)]).toEqual([fact, true]);

        // Whole or not at all: each incident has its document, each chat its investigation, and each account that an
        // invitation made its membership, also the last.
        const { items: incidents } = await workspace.incidents.list({ limit: 1_000 });
        for (const { id } of incidents) expect((await workspace.incidents.document(id))?.version).toBe(1);
        const { items: chats } = await workspace.chats.list({ limit: 1_000 });
        for (const { id, lastSeq } of chats) {
          expect(await workspace.investigations.ofChat(id)).toHaveLength(1);
          expect(await workspace.chats.messages(id, { limit: 10 })).toHaveLength(lastSeq);
        }
        const { directory } = stage().storage;
        for (const { id } of await directory.users()) expect(await directory.people.memberships(id)).toHaveLength(1);
        const numbers = incidents.map(({ number }) => number).toReversed();
        expect(numbers).toEqual(incidents.map((_, index) => index + 1));
        // The lock died with its holder.
        const next = await workspace.incidents.create(newIncident({ startedAt: new Date(Date.now() + 60_000) }), ada);
        expect(next.number).toBe(incidents.length + 1);
      }
    }, 60_000);

    it('does not disturb others that write meanwhile', async () => {
      const workspace = await stage().workspace();
      const killed = killedAfter(stage().store.process, 60);
      let done = false;
      void killed.finally(() => (done = true));
      let written = 0;
      while (!done) {
        await workspace.audit.append([
          { at: new Date(), event: 'tool.call', subject: 's', requestId: 'r', target: 't', outcome: 'ok' },
        ]);
        written += 1;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      const facts = await killed;
      expect(written).toBeGreaterThan(0);
      expect(await workspace.audit.list({ limit: 1_000 })).toHaveLength(Math.min(written, 1_000));
      const theirs = await owner(stage().storage, facts);
      for (const fact of facts) expect([fact, await isThere(theirs, fact)]).toEqual([fact, true]);
    }, 60_000);
  });
}

async function owner(storage: Storage, [first]: readonly Fact[]): Promise<Workspace> {
  const organization = await storage.directory.findOrganization(String(first?.['organization']));
  return storage.workspace(present(organization).id);
}

async function isThere(
  { organizationId, keys, members, grants, incidents, chats }: Workspace,
  fact: Fact,
): Promise<boolean> {
  if ('organization' in fact) return fact['organization'] === organizationId;
  if ('key' in fact) return (await keys.get(toId('ak', fact['key'])))?.secrets.length === 1;
  if ('person' in fact) return (await members.list()).some(({ user }) => user.id === fact['person']);
  if ('grant' in fact) return (await grants.list()).some(({ id }) => id === fact['grant']);
  if ('incident' in fact) return (await incidents.get(String(fact['incident'])))?.number === fact['number'];
  const chat = toId('chat', fact['chat']);
  if (!('message' in fact)) return (await chats.get(chat)) !== undefined;
  return (await chats.message(chat, toId('msg', fact['message']))) !== undefined;
}

/** Starts a process that writes, and kills it at the moment it has acknowledged so much. Answers what it acknowledged. */
async function killedAfter(process: StorageProcess, acknowledged: number): Promise<readonly Fact[]> {
  // Beside this file, whether that is the source or what it was compiled to.
  const script = new URL(`./durability-child${extname(import.meta.url)}`, import.meta.url);
  const child = spawn(globalThis.process.execPath, [fileURLToPath(script), JSON.stringify(process)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const exited = once(child, 'exit');
  const facts: Fact[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const fact: Fact = JSON.parse(line);
    facts.push(fact);
    if (facts.length === acknowledged) child.kill('SIGKILL');
  }
  await exited;
  if (facts.length < acknowledged) throw new Error(`the writing process failed: ${errors.join('')}`);
  return facts;
}
