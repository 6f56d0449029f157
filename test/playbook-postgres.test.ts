import { afterAll, expect, it } from '@jest/globals';
import { tmpdir } from 'node:os';
import { createWarehouse } from '../plugins/telemetry-postgres/support/warehouse.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import { newId } from '../src/contract/core/index.ts';
import { tableNames } from '../src/contract/telemetry/index.ts';
import { demoQuestion, generate, type DemoOptions } from '../src/lab/demo/index.ts';
import { loadGenerated } from '../src/lab/eval/shop.ts';
import { loadPlugin } from '../src/gateway/process/registry.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { Conversation } from './support/chat.ts';
import { everyPostgresServer, type PostgresServer } from './support/postgres.ts';

const end = new Date('2026-03-01T12:00:00Z');
const stops: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const stop of stops) await stop();
});

it('the playbook gets an answer to each of its questions from PostgreSQL, also from tables that were never analyzed', async () => {
  const [server, ...others] = await everyPostgresServer();
  for (const other of others) await other.stop();
  if (server === undefined) return;
  stops.unshift(() => server.stop());
  await askOnPostgres(server);
}, 400_000);

/** What the questions of an investigation came to on PostgreSQL, of whose tables the planner has no statistics. */
async function askOnPostgres(server: PostgresServer): Promise<void> {
  const warehouse = await createWarehouse(server);
  stops.unshift(() => warehouse.cleanup());
  for (const table of tableNames) {
    await server.admin(`ALTER TABLE telemetry.${table} SET (autovacuum_enabled = false)`, warehouse.database);
  }
  const telemetry = warehouse.component;
  await telemetry.start(AbortSignal.timeout(30_000));
  stops.unshift(() => telemetry.stop());
  const pipeline = createQueryPipeline({ telemetry, logger: silentLogger, now: () => new Date() });
  const playbook = await loadPlugin('agent', { plugin: 'playbook' });
  const host = { ...testHost(tmpdir()), dialect: telemetry.dialect, query: agentQuery(pipeline) };
  const agent = playbook.create(host);
  await agent.start(AbortSignal.timeout(5_000));
  for (const [scenario, only] of [
    ['payment-errors', undefined],
    ['third-party-slow', undefined],
    ['kafka-lag', undefined],
    ['payment-errors', 'metrics'],
    ['payment-errors', 'logs'],
  ] as const) {
    const options: DemoOptions = { scenario, seed: 7, minutes: 30, end, rate: 30 };
    const organizationId = await loadGenerated(telemetry, generate(options), { end, only });
    const author = { kind: 'operator', id: 'test', name: 'test' } as const;
    const content = demoQuestion(options);
    const messages = [{ id: newId('msg'), seq: 1, role: 'user' as const, author, time: end, content, parts: [] }];
    const assignment = { organizationId, messages, steps: [], askedAt: end };
    const unanswered: string[] = [];
    let steps = 0;
    let deployed = '';
    for await (const event of agent.investigate(assignment, AbortSignal.timeout(120_000))) {
      if (event.type !== 'step') continue;
      steps += 1;
      if (event.step.question.startsWith('What was deployed')) deployed = event.step.observation;
      if (event.step.error !== undefined) unanswered.push(`${event.step.question} ${event.step.error}`);
    }
    expect([scenario, only, unanswered]).toEqual([scenario, only, []]);
    expect(steps).toBeGreaterThan(8);
    if (only !== undefined) continue;
    expect(deployed).toContain(' was deployed in `production` at ');
    if (scenario === 'payment-errors') await talk(new Conversation(agent, organizationId, end));
    if (scenario === 'payment-errors') expect(deployed).toContain('`payment` `2.4.0` was deployed');
  }
}

/** The questions that are answered by a query of their own. */
async function talk(chat: Conversation): Promise<void> {
  await chat.say('Why do checkouts fail?');
  const asked = [
    'how many users are affected?',
    'which countries are affected?',
    'is it redis?',
    'only amex',
    'is it fixed?',
  ];
  const more = ['which query is slow?', 'when did cart last run?', 'is 2.4.0 everywhere?'];
  for (const question of [...asked, ...more, 'slowest service?', 'how many orders?', 'which version?', 'is cart ok?']) {
    const { answer, steps } = await chat.say(question);
    expect([question, steps.flatMap(({ error }) => error ?? [])]).toEqual([question, []]);
    expect([question, answer]).toEqual([question, expect.stringMatching(/\[E\d+/)]);
  }
}
