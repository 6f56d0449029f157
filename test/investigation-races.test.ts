import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from './contract/host.ts';
import { rejection } from './contract/runner.ts';
import type { StorageUnderTest } from './contract/storage.ts';
import { SightlineError } from '../src/contract/core/index.ts';
import type { Actor, Incident, Investigation, Storage, Workspace } from '../src/contract/storage/index.ts';
import { cancelChat } from '../src/incidents/investigation/worker.ts';
import { LeaseLost, runInvestigation } from '../src/incidents/investigation/run.ts';
import { conclusion, scriptedAgent } from './support/scripted-agent.ts';
import { emptyStore } from './support/stores.ts';

/* What others do in the moment in which an investigation ends. */

const ada: Actor = { kind: 'user', id: 'usr_ada', name: 'ada@example.com' };
const document = '## Summary\n\nPayment.\n';

let store: StorageUnderTest;
let storage: Storage;
let workspace: Workspace;
let incident: Incident;
beforeEach(async () => {
  store = await emptyStore();
  storage = store.open();
  await storage.start(AbortSignal.timeout(20_000));
  await storage.migrate();
  workspace = storage.workspace((await storage.directory.createOrganization({ name: 'acme' })).id);
  // A workspace makes a repository each time it is asked for one; what is patched below has to be the one that is used.
  const { incidents, investigations } = workspace;
  Object.defineProperties(workspace, { incidents: { value: incidents }, investigations: { value: investigations } });
  incident = await workspace.incidents.create(
    { title: 'x', severity: 'high', source: 'test', startedAt: new Date() },
    ada,
  );
});
afterEach(async () => {
  await storage.stop();
  await store.cleanup();
});

async function claimed(holder: string): Promise<Investigation> {
  const message = { title: holder, message: holder, author: ada, engine: 'scripted', incidentId: incident.id };
  await workspace.chats.start(message);
  return claim(holder, new Date());
}

async function claim(holder: string, now: Date): Promise<Investigation> {
  const lease = { holder, now, until: new Date(now.getTime() + 10_000) };
  const found = await storage.directory.claimInvestigation(lease);
  const investigation = found && (await workspace.investigations.get(found.id));
  if (investigation === undefined) throw new Error('there is nothing to claim');
  return investigation;
}

const run = (
  investigation: Investigation,
  holder: string,
  before: () => Promise<unknown> = () => Promise.resolve(),
): Promise<unknown> =>
  runInvestigation(investigation, {
    workspace,
    agent: scriptedAgent({ steps: 0, stepMs: 0, end: () => conclusion('payment', { document }) }),
    logger: silentLogger,
    now: () => new Date(),
    signal: AbortSignal.timeout(20_000),
    holder,
    held: async () => {
      await before();
      return true;
    },
  });

/** Has something happen once, right before the investigation is ended in the store. */
function beforeItsEnd(happens: () => Promise<unknown>): void {
  const { investigations } = workspace;
  const finish = investigations.finish.bind(investigations);
  investigations.finish = async (...given) => {
    investigations.finish = finish;
    await happens();
    await finish(...given);
  };
}

it('an investigation is tried again where the storage fails as the agent concludes', async () => {
  const investigation = await claimed('first');
  const { investigations } = workspace;
  const steps = investigations.steps.bind(investigations);
  let reads = 0;
  investigations.steps = async (id) => {
    reads += 1;
    if (reads === 2) throw new SightlineError('unavailable', 'The storage of this workspace cannot be used now.');
    return steps(id);
  };
  await rejection(run(investigation, 'first'));
  expect((await investigations.get(investigation.id))?.status).toBe('running');
  expect(await run(investigation, 'first')).toBe('completed');
});

describe('an incident as an investigation ends', () => {
  it('gets no document from a worker that has lost its lease', async () => {
    const investigation = await claimed('first');
    await claim('second', new Date(Date.now() + 60_000));
    expect(await rejection(run(investigation, 'first'))).toBeInstanceOf(LeaseLost);
    expect(await workspace.incidents.document(incident.id)).toBeUndefined();
    expect((await workspace.incidents.get(incident.id))?.waitingOn.party).toBe('agent');
  });

  it('keeps what a person writes while the findings are put in', async () => {
    const investigation = await claimed('first');
    const { incidents } = workspace;
    const write = incidents.writeDocument.bind(incidents);
    incidents.writeDocument = async (...given) => {
      incidents.writeDocument = write;
      await write(incident.id, '## Ours\n\nCall the bank.\n', ada);
      return write(...given);
    };
    await run(investigation, 'first');
    expect((await incidents.document(incident.id))?.markdown).toBe(`## Ours\n\nCall the bank.\n\n${document}`);
  });

  it('does not wait for a review of what was cancelled in the last moment', async () => {
    const investigation = await claimed('first');
    const { chatId } = investigation;
    if (chatId === undefined) throw new Error('it has no chat');
    const cancel = () => cancelChat(workspace, chatId, ada, silentLogger);
    expect(await rejection(run(investigation, 'first', cancel))).toBeInstanceOf(LeaseLost);
    expect((await workspace.incidents.get(incident.id))?.waitingOn).toMatchObject({
      party: 'human',
      reason: 'The investigation was cancelled: decide on the next step',
    });
  });

  it('is brought up to date by cancelling again, where the first gateway died before it did so', async () => {
    const { chat } = await workspace.chats.start({
      title: 'x',
      message: 'x',
      author: ada,
      engine: 'scripted',
      incidentId: incident.id,
    });
    await workspace.incidents.update(incident.id, { waitingOn: { party: 'agent' } }, ada);
    await workspace.chats.cancel(chat.id, ada);
    await cancelChat(workspace, chat.id, ada, silentLogger);
    expect((await workspace.incidents.get(incident.id))?.waitingOn.party).toBe('human');
  });

  it('waits on the agent no longer when two end at once', async () => {
    const first = await claimed('first');
    const second = await claimed('second');
    beforeItsEnd(() => run(second, 'second'));
    await run(first, 'first');
    expect((await workspace.incidents.get(incident.id))?.waitingOn.party).toBe('human');
  });
});
