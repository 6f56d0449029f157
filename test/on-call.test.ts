import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import plugin from '../plugins/agent-playbook/index.ts';
import { Harness } from '../plugins/telemetry-duckdb/support/harness.ts';
import { agentQuery } from '../src/gateway/wiring/agent-query.ts';
import { silentLogger, testHost } from './contract/host.ts';
import type { Agent } from '../src/contract/agent/index.ts';
import type { ScenarioName } from '../src/lab/demo/index.ts';
import { loadShop } from '../src/lab/eval/shop.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { Conversation } from './support/chat.ts';
import { failingPayment, gradeOf, quietShop, slowDatabase, type Expectation, type Grade } from './support/on-call.ts';

/** A hundred questions of people on call, each graded by what its answer says. */
const end = new Date('2026-03-01T12:00:00Z');
let harness: Harness;
let agent: Agent;

beforeAll(async () => {
  harness = await Harness.start();
  const pipeline = createQueryPipeline({ telemetry: harness.telemetry, logger: silentLogger, now: () => end });
  agent = plugin.create(
    {},
    { ...testHost(harness.directory), dialect: harness.telemetry.dialect, query: agentQuery(pipeline) },
  );
});

afterAll(() => harness.stop());

interface Scene {
  readonly scenario: ScenarioName;
  /** Minutes from the last telemetry to the first question. */
  readonly after: number;
  readonly opening: string;
  readonly questions: readonly Expectation[];
}

const scenes: readonly Scene[] = [
  { scenario: 'payment-errors', after: 5, opening: 'Why do checkouts fail?', questions: failingPayment },
  { scenario: 'slow-query', after: 2, opening: 'Why is checkout slow?', questions: slowDatabase },
  { scenario: 'quiet', after: 2, opening: 'What is wrong?', questions: quietShop },
];

const grades: Grade[] = [];

describe.each(scenes)('asked about $scenario', ({ scenario, after, opening, questions }) => {
  let open: () => Conversation;
  let root: Conversation;
  let before: string;
  beforeAll(async () => {
    const organizationId = await loadShop(harness.telemetry, { scenario, seed: 1, minutes: 60, end });
    open = () => new Conversation(agent, organizationId, new Date(end.getTime() + after * 60_000));
    root = open();
    before = (await root.say(opening)).answer;
  }, 300_000);

  it.each(questions.map((expected) => [expected.ask.split('\n', 1)[0], expected] as const))(
    '%s',
    async (_ask, expected) => {
      const chat = expected.first ? open() : root.fork();
      for (const text of expected.after ?? []) await chat.say(text);
      const { answer, steps } = await chat.say(expected.ask);
      expect(steps.flatMap(({ error }) => error ?? [])).toEqual([]);
      const grade = gradeOf(answer, expected, expected.first ? '' : before);
      grades.push(grade);
      // One that is worse than a partial answer is nobody's average.
      expect({ answer, grade }).not.toMatchObject({ grade: 0 });
    },
    60_000,
  );
});

describe('all of them together', () => {
  it('are answered nearly as a colleague would', () => {
    expect(grades).toHaveLength(scenes.reduce((sum, { questions }) => sum + questions.length, 0));
    expect(grades.reduce<number>((sum, grade) => sum + grade, 0) / grades.length).toBeGreaterThanOrEqual(2.7);
  });
});
