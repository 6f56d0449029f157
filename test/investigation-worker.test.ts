import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { silentLogger } from './contract/host.ts';
import type { StorageUnderTest } from './contract/storage.ts';
import { SightlineError, type ChatId } from '../src/contract/core/index.ts';
import type { Agent, AgentEvent } from '../src/contract/agent/index.ts';
import type {
  Actor,
  Chat,
  Incident,
  Investigation,
  NewIncident,
  Storage,
  Workspace,
} from '../src/contract/storage/index.ts';
import {
  cancelChat,
  createInvestigationWorker,
  type InvestigationWorker,
} from '../src/incidents/investigation/worker.ts';
import { conclusion, scriptedAgent, step } from './support/scripted-agent.ts';
import { emptyStore } from './support/stores.ts';

const author: Actor = { kind: 'key', id: 'ak_test', name: 'test' };

let store: StorageUnderTest;
let storage: Storage;
let workspace: Workspace;
let workers: InvestigationWorker[];

beforeEach(async () => {
  store = await emptyStore();
  storage = await openStorage();
  await storage.migrate();
  workspace = storage.workspace((await storage.directory.createOrganization({ name: 'acme' })).id);
  workers = [];
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await storage.stop();
  await store.cleanup();
});

async function openStorage(): Promise<Storage> {
  const opened = store.open();
  await opened.start(AbortSignal.timeout(20_000));
  return opened;
}

function work(
  agent: Agent,
  more: { readonly storage?: Storage; readonly now?: () => Date; readonly concurrency?: number } = {},
): InvestigationWorker {
  const worker = createInvestigationWorker({
    storage: more.storage ?? storage,
    agent,
    logger: silentLogger,
    now: more.now ?? (() => new Date()),
    holder: `worker ${workers.length}`,
    concurrency: more.concurrency ?? 2,
  });
  workers.push(worker);
  worker.start();
  return worker;
}

async function startChat(message: string, more: { readonly incidentId?: Incident['id'] } = {}): Promise<Chat> {
  const { chat } = await workspace.chats.start({ title: message, message, author, engine: 'scripted', ...more });
  return chat;
}

async function settled(id: ChatId): Promise<Chat> {
  const end = AbortSignal.timeout(20_000);
  for (;;) {
    const chat = await workspace.chats.get(id);
    if (chat === undefined || chat.status !== 'running') return chat ?? Promise.reject(new Error('no chat'));
    if (end.aborted) throw new Error('the chat is still running');
    await workspace.chats.changed(id, chat.updatedAt, end);
  }
}

async function messagesOf(id: ChatId): Promise<readonly string[]> {
  return (await workspace.chats.messages(id, { limit: 100 })).map(({ role, content }) => `${role}: ${content}`);
}

async function investigationOf(id: ChatId): Promise<Investigation> {
  const [investigation] = await workspace.investigations.ofChat(id);
  if (investigation === undefined) throw new Error('nothing was queued');
  return investigation;
}

async function questionsOf(id: Investigation['id']): Promise<readonly string[]> {
  return (await workspace.investigations.steps(id)).map(({ seq, question }) => `${seq} ${question}`);
}

function openIncident(more: Partial<NewIncident> = {}): Promise<Incident> {
  return workspace.incidents.create(
    { title: 'Checkout fails', severity: 'high', source: 'test', startedAt: new Date(), ...more },
    { kind: 'alert', id: 'a', name: 'a' },
  );
}

describe('an investigation', () => {
  it('is run as soon as the worker is told, its steps stored and its answer posted with the findings', async () => {
    const worker = work(scriptedAgent({ steps: 2, stepMs: 1 }));
    const chat = await startChat('why?');
    worker.wake();
    expect(await settled(chat.id)).toMatchObject({ status: 'completed' });
    const investigation = await investigationOf(chat.id);
    expect(await questionsOf(investigation.id)).toEqual(['1 step 1', '2 step 2']);
    expect(await messagesOf(chat.id)).toEqual(['user: why?', 'agent: answered: why?']);
    expect(investigation).toMatchObject({ status: 'completed', conclusion: { service: 'payment' } });
    const [, answer] = await workspace.chats.messages(chat.id, { limit: 10 });
    expect(answer?.parts).toEqual([
      { type: 'finding', evidence_id: 'E1', text: 'claimed' },
      { type: 'query', evidence_id: 'E1', sql: "SELECT 'step 1'" },
    ]);
  });

  it('is found without being told', async () => {
    work(scriptedAgent({ steps: 1, stepMs: 1 }));
    const chat = await startChat('queued elsewhere');
    expect(await settled(chat.id)).toMatchObject({ status: 'completed' });
  });

  it('is run once, however many workers look', async () => {
    const second = await openStorage();
    try {
      const taken: string[] = [];
      const agent = scriptedAgent({ steps: 3, stepMs: 20, onStep: (question) => void taken.push(question) });
      const both = [work(agent), work(agent, { storage: second })];
      const chats = await Promise.all(Array.from({ length: 6 }, (_, index) => startChat(`question ${index}`)));
      for (const worker of both) worker.wake();
      for (const chat of chats) {
        await settled(chat.id);
        expect(await messagesOf(chat.id)).toHaveLength(2);
      }
      expect(taken).toHaveLength(18);
      await Promise.all(both.map((worker) => worker.stop()));
    } finally {
      await second.stop();
    }
  });

  it('goes on in another worker, where it was, when its own is stopped', async () => {
    let taken = 0;
    const gone = Promise.withResolvers<void>();
    const first = work(
      scriptedAgent({
        steps: 5,
        stepMs: 30,
        onStep: () => {
          taken += 1;
          if (taken === 3) gone.resolve();
        },
      }),
    );
    const chat = await startChat('long');
    first.wake();
    await gone.promise;
    await first.stop();
    const { id } = await investigationOf(chat.id);
    const stored = (await questionsOf(id)).length;
    expect(stored).toBeGreaterThanOrEqual(2);
    const rest: string[] = [];
    work(scriptedAgent({ steps: 5, stepMs: 1, onStep: (question) => void rest.push(question) })).wake();
    await settled(chat.id);
    expect(rest).toHaveLength(5 - stored);
    expect(await questionsOf(id)).toEqual(['1 step 1', '2 step 2', '3 step 3', '4 step 4', '5 step 5']);
    expect(await messagesOf(chat.id)).toHaveLength(2);
  });

  it('goes on after a kill -9 in the middle, with no step twice and none lost', async () => {
    const chat = await startChat('survive');
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('support/worker-process.ts', import.meta.url)), JSON.stringify(store.process), '8'],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } },
    );
    const exited = once(child, 'exit');
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (said.length === 4) child.kill('SIGKILL');
    }
    await exited;
    expect(child.signalCode).toBe('SIGKILL');

    const { id, status } = await investigationOf(chat.id);
    expect(status).toBe('running');
    const before = await questionsOf(id);
    // The fourth step may have been stored between its announcement and the kill.
    expect([3, 4]).toContain(before.length);

    const rest: string[] = [];
    // The dead worker's lease ends by itself; the clock of this one is past that.
    work(scriptedAgent({ steps: 8, stepMs: 1, onStep: (question) => void rest.push(question) }), {
      now: () => new Date(Date.now() + 11_000),
    });
    expect(await settled(chat.id)).toMatchObject({ status: 'completed' });
    expect(await questionsOf(id)).toEqual(Array.from({ length: 8 }, (_, index) => `${index + 1} step ${index + 1}`));
    expect((await questionsOf(id)).slice(0, before.length)).toEqual(before);
    expect(rest).toHaveLength(8 - before.length);
    expect(await messagesOf(chat.id)).toEqual(['user: survive', 'agent: answered: survive']);
  });

  it('ends when its chat is cancelled, and nothing more is posted', async () => {
    const begun = Promise.withResolvers<AbortSignal>();
    const worker = work(scriptedAgent({ steps: 1, stepMs: 60_000, onSignal: begun.resolve }));
    const chat = await startChat('never mind');
    worker.wake();
    const signal = await begun.promise;
    await workspace.chats.cancel(chat.id, { kind: 'operator', id: 'root', name: 'root' });
    await once(signal, 'abort');
    await worker.stop();
    expect(await workspace.chats.get(chat.id)).toMatchObject({ status: 'cancelled' });
    expect(await messagesOf(chat.id)).toEqual(['user: never mind', 'system: Cancelled.']);
  });

  it('hears at once that its chat was cancelled elsewhere, whatever its lease says', async () => {
    const elsewhere = await openStorage();
    try {
      const incident = await openIncident();
      const begun = Promise.withResolvers<AbortSignal>();
      storage.directory.renewInvestigation = async () => true;
      const worker = work(scriptedAgent({ steps: 1, stepMs: 60_000, onSignal: begun.resolve }));
      const chat = await startChat('never mind', { incidentId: incident.id });
      worker.wake();
      const signal = await begun.promise;
      expect(await workspace.incidents.get(incident.id)).toMatchObject({ waitingOn: { party: 'agent' } });
      await cancelChat(elsewhere.workspace(workspace.organizationId), chat.id, author, silentLogger);
      if (!signal.aborted) await once(signal, 'abort');
      await worker.stop();
      expect((await investigationOf(chat.id)).status).toBe('cancelled');
      expect(await workspace.incidents.get(incident.id)).toMatchObject({
        waitingOn: { party: 'human', reason: 'The investigation was cancelled: decide on the next step' },
      });
    } finally {
      await elsewhere.stop();
    }
  });

  it('fails with a sentence that is safe to show when the agent breaks', async () => {
    const broken: Agent = {
      ...scriptedAgent({ steps: 0, stepMs: 0 }),
      async *investigate(assignment) {
        yield { type: 'step', step: step('one') };
        if (assignment.messages.at(-1)?.content === 'known') {
          throw new SightlineError('telemetry_unavailable', 'The telemetry engine does not start.');
        }
        throw new Error('password=hunter2 at /srv/secret');
      },
    };
    const worker = work(broken);
    const [known, unknown] = [await startChat('known'), await startChat('unknown')];
    worker.wake();
    expect(await settled(known.id)).toMatchObject({ status: 'failed' });
    expect(await settled(unknown.id)).toMatchObject({ status: 'failed' });
    expect((await messagesOf(known.id)).at(-1)).toContain('The telemetry engine does not start.');
    const said = (await messagesOf(unknown.id)).at(-1) ?? '';
    expect(said).toContain('The investigation failed.');
    expect(said).not.toContain('hunter2');
    expect((await investigationOf(unknown.id)).failure).not.toContain('hunter2');
  });

  it('fails when the agent takes steps without end, or ends without an answer', async () => {
    const endless = work(scriptedAgent({ steps: 10_000, stepMs: 0 }));
    const chat = await startChat('go on');
    endless.wake();
    expect(await settled(chat.id)).toMatchObject({ status: 'failed' });
    expect((await messagesOf(chat.id)).at(-1)).toContain('budget of 60 steps');
    expect(await questionsOf((await investigationOf(chat.id)).id)).toHaveLength(60);
    await endless.stop();

    const silent: Agent = { ...scriptedAgent({ steps: 0, stepMs: 0 }), async *investigate() {} };
    const other = await startChat('say something');
    work(silent).wake();
    expect(await settled(other.id)).toMatchObject({ status: 'failed' });
  });

  it('bounds what the agent hands over', async () => {
    const huge = 'x'.repeat(1_000_000);
    const agent: Agent = {
      ...scriptedAgent({ steps: 0, stepMs: 0 }),
      async *investigate() {
        const rows = Array.from({ length: 5_000 }, () => [huge.slice(0, 1_000)]);
        yield { type: 'step', step: { ...step(`nul \0 ${huge}`), rows, observation: huge } };
        yield conclusion(huge);
      },
    };
    const chat = await startChat('much');
    work(agent).wake();
    expect(await settled(chat.id)).toMatchObject({ status: 'completed' });
    const [stored] = await workspace.investigations.steps((await investigationOf(chat.id)).id);
    expect(JSON.stringify(stored).length).toBeLessThan(100_000);
    expect(stored?.rows.length).toBeLessThanOrEqual(50);
    expect((await messagesOf(chat.id)).at(-1)?.length).toBeLessThan(50_000);
  });

  it('stops at once although the agent does not listen to its signal', async () => {
    const begun = Promise.withResolvers<void>();
    const deaf: Agent = {
      ...scriptedAgent({ steps: 0, stepMs: 0 }),
      async *investigate(): AsyncGenerator<AgentEvent> {
        begun.resolve();
        await new Promise(() => {});
        yield conclusion('too late');
      },
    };
    const worker = work(deaf);
    const chat = await startChat('hello?');
    worker.wake();
    await begun.promise;
    await worker.stop();
    expect(await workspace.chats.get(chat.id)).toMatchObject({ status: 'running' });
    work(scriptedAgent({ steps: 1, stepMs: 1 })).wake();
    expect(await settled(chat.id)).toMatchObject({ status: 'completed' });
  });
});

describe('a question of the agent', () => {
  it('makes the chat wait, and the reply takes the same investigation up again', async () => {
    const agent = scriptedAgent({
      steps: 2,
      stepMs: 1,
      end: ({ messages }) =>
        messages.length === 1
          ? { type: 'question', question: 'Which region?' }
          : conclusion(`so: ${messages.at(-1)?.content ?? ''}`),
    });
    const worker = work(agent);
    const chat = await startChat('why?');
    worker.wake();
    expect(await settled(chat.id)).toMatchObject({ status: 'waiting' });
    const { id } = await investigationOf(chat.id);
    await workspace.chats.reply(chat.id, { message: 'eu-west', author, engine: 'scripted' });
    worker.wake();
    expect(await settled(chat.id)).toMatchObject({ status: 'completed' });
    expect((await investigationOf(chat.id)).id).toBe(id);
    expect(await messagesOf(chat.id)).toEqual([
      'user: why?',
      'agent: Which region?',
      'user: eu-west',
      'agent: so: eu-west',
    ]);
    expect(await questionsOf(id)).toHaveLength(2);
  });
});

describe('a follow-up', () => {
  it('is given what was found before in its chat and about its incident, and may be answered from it', async () => {
    const incident = await openIncident();
    const seen: (readonly string[])[] = [];
    const agent = scriptedAgent({
      steps: 1,
      stepMs: 1,
      end: ({ messages, earlier = [] }) => {
        seen.push(earlier.map(({ conclusion: { root_cause: cause }, steps }) => `${cause}: ${steps.length}`));
        const asked = messages.at(-1)?.content ?? 'the alert';
        return asked === 'why?'
          ? { type: 'answer', answer: 'As I said.' }
          : conclusion(asked, { document: '## Evidence\n\nx' });
      },
    });
    const worker = work(agent);
    await workspace.investigations.enqueue({ incidentId: incident.id, engine: 'scripted' });
    worker.wake();
    await until(async () => (await workspace.investigations.ofIncident(incident.id))[0]?.status === 'completed');
    const chat = await startChat('first', { incidentId: incident.id });
    worker.wake();
    await settled(chat.id);
    const before = await workspace.incidents.get(incident.id);
    for (const message of ['why?', 'last']) {
      await workspace.chats.reply(chat.id, { message, author, engine: 'scripted' });
      worker.wake();
      await settled(chat.id);
      const incidentNow = await workspace.incidents.get(incident.id);
      if (message === 'why?') expect(incidentNow?.waitingOn).toMatchObject({ reason: before?.waitingOn.reason });
    }
    // An answer alone is no finding; its evidence stays with what it was an answer about.
    expect(seen).toEqual([[], ['the alert: 1'], ['first: 1', 'the alert: 1'], ['first: 2', 'the alert: 1']]);
    expect((await messagesOf(chat.id)).slice(2, 4)).toEqual(['user: why?', 'agent: As I said.']);
    expect((await workspace.investigations.ofChat(chat.id)).map((each) => each.conclusion?.root_cause)).toEqual([
      'last',
      undefined,
      'first',
    ]);
  });
});

describe('a reply while the agent works', () => {
  it('is answered after the first question, which it does not change', async () => {
    const begun = Promise.withResolvers<void>();
    const worker = work(scriptedAgent({ steps: 3, stepMs: 60, onStep: () => begun.resolve() }));
    const chat = await startChat('first');
    worker.wake();
    await begun.promise;
    await sleep(5);
    await workspace.chats.reply(chat.id, { message: 'second', author, engine: 'scripted' });
    worker.wake();
    await settled(chat.id);
    expect(await messagesOf(chat.id)).toEqual([
      'user: first',
      'user: second',
      'agent: answered: first',
      'agent: answered: second',
    ]);
  });
});

describe('an incident behind it', () => {
  it('waits on the agent while it works, then on a person, and gets a document', async () => {
    const incident = await openIncident({ assignee: 'ann@example.com' });
    await workspace.investigations.enqueue({ incidentId: incident.id, engine: 'scripted' });
    const seen = Promise.withResolvers<Incident | undefined>();
    const agent = scriptedAgent({
      steps: 1,
      stepMs: 20,
      onStep: () => seen.resolve(workspace.incidents.get(incident.id)),
      end: () => conclusion('payment', { document: '## Summary\n\nPayment.' }),
    });
    work(agent).wake();
    expect(await seen.promise).toMatchObject({ status: 'investigating', waitingOn: { party: 'agent' } });
    await until(async () => (await workspace.investigations.ofIncident(incident.id))[0]?.status === 'completed');
    expect(await workspace.incidents.get(incident.id)).toMatchObject({
      status: 'identified',
      services: ['payment'],
      waitingOn: { party: 'human', name: 'ann@example.com' },
    });
    expect(await workspace.incidents.document(incident.id)).toMatchObject({
      markdown: '## Summary\n\nPayment.\n',
      version: 1,
    });
  });

  it('keeps what a person wrote in its document, with the findings beneath, once', async () => {
    const incident = await openIncident();
    await workspace.incidents.writeDocument(incident.id, '# Ours', { kind: 'user', id: 'usr_a', name: 'Ann' });
    const worker = work(scriptedAgent({ steps: 0, stepMs: 0, end: () => conclusion('x', { document: 'Found.' }) }));
    for (const message of ['one', 'two']) {
      const chat = await startChat(message, { incidentId: incident.id });
      worker.wake();
      await settled(chat.id);
    }
    const document = await workspace.incidents.document(incident.id);
    expect(document?.markdown).toBe('# Ours\n\n## Evidence\n\nFound.\n');
    expect(document?.version).toBe(2);
  });

  it('is left alone when it is resolved, and its vendor is still waited on', async () => {
    const resolved = await openIncident({ status: 'resolved', fingerprint: 'r' });
    const vendor = await openIncident({ waitingOn: { party: 'external', name: 'Stripe' }, status: 'investigating' });
    const worker = work(scriptedAgent({ steps: 0, stepMs: 0, end: () => ({ type: 'question', question: 'And?' }) }));
    for (const incident of [resolved, vendor]) {
      const chat = await startChat('x', { incidentId: incident.id });
      worker.wake();
      expect(await settled(chat.id)).toMatchObject({ status: 'waiting' });
    }
    expect(await workspace.incidents.get(resolved.id)).toMatchObject({
      status: 'resolved',
      waitingOn: resolved.waitingOn,
    });
    expect(await workspace.incidents.get(vendor.id)).toMatchObject({
      waitingOn: { party: 'external', name: 'Stripe' },
    });
  });

  it('waits on who was asked, and on the agent for as long as another of its investigations works', async () => {
    const incident = await openIncident({ assignee: 'bob@example.com' });
    const person: Actor = { kind: 'user', id: 'usr_a', name: 'ada@example.com' };
    const release = Promise.withResolvers<void>();
    const agent = scriptedAgent({ steps: 0, stepMs: 0, end: () => ({ type: 'question', question: 'Which?' }) });
    const slow: Agent = {
      ...agent,
      async *investigate(assignment, signal) {
        if (assignment.messages[0]?.content === 'slow') await release.promise;
        yield* agent.investigate(assignment, signal);
      },
    };
    const input = { title: 'x', author: person, engine: 'scripted', incidentId: incident.id };
    const { chat: second } = await workspace.chats.start({ ...input, message: 'slow' });
    const { chat: first } = await workspace.chats.start({ ...input, message: 'quick' });
    work(slow).wake();
    await settled(first.id);
    expect((await workspace.incidents.get(incident.id))?.waitingOn.party).toBe('agent');
    release.resolve();
    await settled(second.id);
    expect((await workspace.incidents.get(incident.id))?.waitingOn).toMatchObject({
      party: 'human',
      name: 'ada@example.com',
      reason: 'Which?',
    });
    const changes = (await workspace.incidents.timeline(incident.id)).filter(({ change }) => change === 'waiting_on');
    expect(changes.map(({ to }) => to)).toEqual(['agent (Investigating)', 'human: ada@example.com (Which?)']);
  });

  it('waits on a person with the question that the agent asks', async () => {
    const incident = await openIncident();
    const chat = await startChat('x', { incidentId: incident.id });
    work(scriptedAgent({ steps: 0, stepMs: 0, end: () => ({ type: 'question', question: 'Which\nregion?' }) })).wake();
    await settled(chat.id);
    expect(await workspace.incidents.get(incident.id)).toMatchObject({
      waitingOn: { party: 'human', reason: 'Which region?' },
    });
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error('it did not happen');
    await sleep(20);
  }
}
