import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import llm from '../plugins/agent-llm/index.ts';
import { incidentOf } from './support/incident.ts';
import { newOrganization } from '../plugins/telemetry-duckdb/support/harness.ts';
import { rejection } from './contract/runner.ts';
import type { OrganizationId } from '../src/contract/core/index.ts';
import { listen } from './support/listen.ts';
import { ago, askedAt, lastHour, LlmLaboratory, run, saying } from './support/llm-laboratory.ts';
import type { Asked, Call, Said, Script } from './support/model-api.ts';
import { makeTraffic } from './support/traffic.ts';

/* agent-llm on the embedded warehouse, with a model that says what the test has it say. */

let laboratory: LlmLaboratory;
let shop: OrganizationId;
beforeAll(async () => {
  laboratory = await LlmLaboratory.start();
  shop = newOrganization();
  const { spans, logs } = makeTraffic(ago(120), askedAt, { kind: 'payment-errors', from: ago(25), to: askedAt });
  await laboratory.harness.load(shop, 'spans', spans);
  await laboratory.harness.load(shop, 'logs', logs);
});
afterAll(() => laboratory.stop());
afterEach(() => expect(laboratory.api.problems).toEqual([]));

const plan: Call = { name: 'make_plan', input: { todo: ['Look at payment', 'Conclude'] } };
const failing = `SELECT service_name, count(*) AS failed FROM otel.spans WHERE status_code = 'ERROR' AND time >= {start} AND time < {end} GROUP BY service_name ORDER BY failed DESC`;
const query = (sql = failing, expect = 'rows'): Call => ({
  name: 'query_otel',
  input: { question: 'Who fails?', sql, ...lastHour, expect },
});
const submit = (more: object = {}): Call => ({
  name: 'submit_conclusion',
  input: {
    root_cause: 'The card processor refuses the key of `payment`.',
    category: 'dependency',
    service: 'payment',
    confidence: 'high',
    claims: [{ text: 'Most failures are in `payment`.', evidence_ids: ['E2'] }],
    next_steps: ['Check the key.'],
    ...more,
  },
});
const inTurn =
  (...turns: readonly Said[]): Script =>
  ({ turn }) =>
    turns[turn] ?? { status: 400 };
const first = (): Asked => laboratory.api.asked.at(-1) ?? missing();
const missing = (): never => {
  throw new Error('the model was not asked');
};

describe('an investigation with a model', () => {
  it('begins with what the playbook found, and records each query as a step', async () => {
    const { steps, progress, end } = await laboratory.investigate({
      organizationId: shop,
      script: inTurn({ calls: [plan] }, { calls: [query()] }, { calls: [submit()] }),
    });
    const told = first().texts[0] ?? '';
    expect(told).toContain('Why does checkout fail?');
    expect(told).toContain('`payment` is failing');
    const added = steps.at(-1);
    expect(added).toMatchObject({ question: 'Who fails?', verdict: 'supports', columns: ['service_name', 'failed'] });
    expect(added?.sql).toContain("TIMESTAMP '2026-03-01 11:00:00");
    expect(added?.observation).toMatch(/rows; the first has `service_name` `\w+`, `failed` `"?\d+"?`\./);
    expect(progress.some((line) => line === 'Plan: Look at payment; Conclude')).toBe(true);
    expect(first().results[0]?.text).toContain(`${added?.evidence_id}: `);
    expect(end?.conclusion).toMatchObject({ service: 'payment', confidence: 'high', suspects: ['payment'] });
    expect(end?.answer).toContain('**Likely cause: dependency in `payment`** (high confidence)');
    expect(end?.answer).toContain('`scripted`');
    expect(end?.answer).toContain('names the same service');
    // The SQL of the record means the same wherever it is run again.
    const again = await laboratory.harness.query(shop, added?.sql ?? '');
    expect(again.rows).toEqual(added?.rows);
  });

  it.each(['chat', 'responses'] as const)('works over OpenAI, %s, too', async (provider) => {
    const { end } = await laboratory.investigate({
      organizationId: shop,
      provider,
      script: inTurn({ calls: [plan, query()] }, { calls: [submit()] }),
    });
    expect(end?.conclusion.service).toBe('payment');
    expect(first().headers.authorization).toBe('Bearer sk-secret');
  });

  it('holds a suspicion against a query whose answer was named before', async () => {
    const none = failing.replace("'ERROR'", "'NEVER'");
    const { steps } = await laboratory.investigate({
      organizationId: shop,
      script: inTurn({ calls: [plan, query(none), query(`${none} `, 'no_rows')] }, { calls: [submit()] }),
    });
    expect(steps.slice(-2).map(({ verdict }) => verdict)).toEqual(['refutes', 'supports']);
  });

  it('looks closer with the playbook', async () => {
    const { steps } = await laboratory.investigate({
      organizationId: shop,
      script: inTurn(
        { calls: [plan, { name: 'look_closer', input: { services: ['catalog'], start: ago(50), end: ago(30) } }] },
        { calls: [submit()] },
      ),
    });
    expect(first().results[1]?.text).toContain('New evidence:');
    expect(new Set(steps.map(({ evidence_id: id }) => id)).size).toBe(steps.length);
    expect(new Set(steps.map(({ sql }) => sql)).size).toBe(steps.length);
  });

  it('tells the model what was wrong with a query, and may not be cited for it', async () => {
    const { end, steps } = await laboratory.investigate({
      organizationId: shop,
      script: inTurn(
        {
          calls: [
            plan,
            query('SELECT nothing FROM otel.spans WHERE time >= {start} AND time < {end}'),
            query('SELECT 1'),
          ],
        },
        { calls: [submit({ claims: [{ text: 'It failed.', evidence_ids: [] }] })] },
      ),
    });
    const [, wrong, unbound] = first().results;
    expect(wrong?.text).toMatch(/failed \(unknown_column\) and may not be cited/);
    expect(unbound?.text).toContain('must bound its time');
    expect(steps.at(-1)?.error).toBe('unknown_column');
    expect(end?.conclusion.claims[0]).toMatchObject({ status: 'hypothesis' });
  });

  it('writes a document for an incident, with the playbook beside it', async () => {
    const incident = incidentOf(shop, { startedAt: ago(25) });
    const { end } = await laboratory.investigate({
      organizationId: shop,
      messages: [],
      assignment: { incident },
      script: inTurn({ calls: [plan] }, { calls: [submit({ not_checked: ['The processor itself'] })] }),
    });
    expect([...(end?.document ?? '').matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([
      'Summary',
      'Root cause',
      'Next steps',
      'Open questions',
      'Ruled out',
      'Evidence',
      'Without a model',
    ]);
    expect(end?.document).toContain('Not checked: The processor itself.');
  });
});

describe('a claim', () => {
  const claimed = async (more: object) => {
    const { end } = await laboratory.investigate({
      organizationId: shop,
      script: inTurn({ calls: [plan] }, { calls: [submit(more)] }),
    });
    return end ?? missing();
  };

  it('that cites nothing, or something that is not there, is shown as a hypothesis', async () => {
    const { conclusion, answer } = await claimed({
      claims: [
        { text: 'Proven', evidence_ids: ['E1'] },
        { text: 'Guessed', evidence_ids: [] },
        { text: 'Forged', evidence_ids: ['E1', 'E999'] },
      ],
    });
    expect(conclusion.claims.map(({ status }) => status)).toEqual(['supported', 'hypothesis', 'hypothesis']);
    expect(conclusion.claims[2]?.evidence_ids).toEqual(['E1']);
    expect(answer).toContain('- Perhaps: Guessed');
  });

  it('is needed for confidence', async () => {
    expect((await claimed({ claims: [] })).conclusion.confidence).toBe('low');
  });

  it('of a service that sends nothing lowers the confidence', async () => {
    const { conclusion, answer } = await claimed({ service: 'ghost' });
    expect(conclusion).toMatchObject({ service: 'ghost', confidence: 'low' });
    expect(conclusion.not_checked?.[0]).toContain('sends no spans and no logs');
    expect(answer).toContain('names `payment` instead');
  });
});

describe('when the model cannot be used to the end', () => {
  const fallen = async (script: Script, limits: object = {}) => {
    const { end } = await laboratory.investigate({ organizationId: shop, script, limits });
    expect(end?.conclusion).toMatchObject({ service: 'payment', category: 'errors' });
    expect(end?.conclusion.not_checked).toContain('what a model would have looked at');
    return end?.answer.split('\n')[0] ?? '';
  };
  const nonsense: Call = { name: 'submit_conclusion', input: { root_cause: 7 } };

  it.each<readonly [string, string, Script]>([
    ['refuses', 'declined to answer', () => ({ text: 'No.', end: 'refused' })],
    ['submits nonsense, however often it is told', 'did not submit', () => ({ calls: [nonsense] })],
    ['only talks', 'did not submit', () => ({ text: 'I think it is the database.' })],
    ['is not let in', 'could not be asked: The model API at 127.0.0.1:', () => ({ status: 401, raw: '{}' })],
    ['says what is no message', 'is not a message', () => ({ raw: '[]' })],
  ])('as it %s, the playbook concludes and says why', async (_name, why, script) => {
    const before = laboratory.api.asked.length;
    expect(await fallen(script)).toContain(why);
    expect(laboratory.api.asked.length - before).toBeLessThanOrEqual(3);
  });

  it('as it writes arguments too deep to be written out, the playbook concludes', async () => {
    const deep = { name: 'query_otel', input: '['.repeat(20_000) + ']'.repeat(20_000) };
    const { end } = await laboratory.investigate({
      organizationId: shop,
      provider: 'chat',
      script: () => ({ calls: [deep] }),
    });
    expect(end?.conclusion).toMatchObject({ service: 'payment', category: 'errors' });
    expect(end?.answer).toContain('broken off');
  });

  it('as the telemetry breaks while it looks closer, the playbook concludes', async () => {
    laboratory.breaksAt = 'newcomer';
    const closer: Call = { name: 'look_closer', input: { services: ['newcomer'], ...lastHour } };
    expect(await fallen(inTurn({ calls: [plan, closer] }))).toContain('broken off');
  });

  it('a second submission that is right counts', async () => {
    const { end } = await laboratory.investigate({
      organizationId: shop,
      script: inTurn({ calls: [nonsense] }, { calls: [submit()] }),
    });
    expect(end?.conclusion.category).toBe('dependency');
    expect(first().results[0]).toMatchObject({ failed: true, text: expect.stringContaining('root_cause') });
  });

  it('as its time is over, the playbook concludes', async () => {
    expect(await fallen(() => ({ afterMs: 5_000 }), { seconds: 1 })).toContain('used up its time');
  });

  it('as the playbook has used up its time, the playbook concludes and no model is asked', async () => {
    const before = laboratory.api.asked.length;
    laboratory.slowness = 120;
    const said = await fallen(inTurn({ calls: [submit()] }), { seconds: 1 }).finally(() => {
      laboratory.slowness = 0;
    });
    expect(said).toContain('used up its time');
    expect(laboratory.api.asked).toHaveLength(before);
  });

  it('as nobody answers there, the playbook concludes', async () => {
    const server = createServer();
    const url = `http://127.0.0.1:${await listen(server)}`;
    await new Promise((resolve) => server.close(resolve));
    const { end } = await run(laboratory.agent('anthropic', { seconds: 1 }, url), { organizationId: shop });
    expect(end?.conclusion.service).toBe('payment');
  });
});

describe('a budget', () => {
  it('of calls ends in a conclusion from what is there', async () => {
    let forced: string | undefined;
    const { end, steps } = await laboratory.investigate({
      organizationId: shop,
      limits: { maxToolCalls: 2 },
      script: ({ turn, mustCall }) => {
        forced = mustCall;
        if (mustCall !== undefined) return { calls: [submit()] };
        return { calls: turn === 0 ? [plan] : [query(), query(`${failing} LIMIT 3`)] };
      },
    });
    expect(forced).toBe('submit_conclusion');
    expect(end?.conclusion.category).toBe('dependency');
    expect(steps.at(-1)?.sql).not.toContain('LIMIT 3');
  });

  it.each(['anthropic', 'chat', 'responses'] as const)(
    'ends so over %s, too, where a model refuses to be told which tool to call',
    async (provider) => {
      const before = laboratory.api.asked.length;
      const forced: (string | undefined)[] = [];
      const told: string[] = [];
      const { end } = await laboratory.investigate({
        organizationId: shop,
        provider,
        limits: { maxToolCalls: 1 },
        script: ({ turn, mustCall, texts }) => {
          if (turn === 0) return { calls: [plan] };
          forced.push(mustCall);
          if (mustCall !== undefined) return { status: 400, raw: '{"error":{"type":"invalid_request_error"}}' };
          told.push(...texts);
          return turn === 1 ? { text: 'Let me think.' } : { calls: [submit()] };
        },
      });
      expect(end?.conclusion.category).toBe('dependency');
      expect(end?.answer).toContain('Concluded by the model');
      expect(told).toContain('The budget is used up. Call submit_conclusion now, with what is there.');
      // Refused once, and not forced again in this run.
      expect(forced).toEqual(['submit_conclusion', undefined, undefined]);
      expect(laboratory.api.asked).toHaveLength(before + 4);
    },
  );

  it('of tokens does, and a model that goes on nevertheless is left', async () => {
    const hungry = { input: 30_000, output: 1_000 };
    const { end } = await laboratory.investigate({
      organizationId: shop,
      limits: { maxTokens: 100_000 },
      script: ({ turn }) => ({ calls: turn === 0 ? [plan] : [query()], tokens: hungry }),
    });
    expect(end?.answer).toContain('made without a model');
    const { end: obedient } = await laboratory.investigate({
      organizationId: shop,
      limits: { maxTokens: 100_000 },
      script: ({ mustCall }) => ({ calls: [mustCall === undefined ? plan : submit()], tokens: hungry }),
    });
    expect(obedient?.conclusion.category).toBe('dependency');
  });

  it('lets no model fill the record beyond what the core takes', async () => {
    const { steps, end } = await laboratory.investigate({
      organizationId: shop,
      limits: { maxToolCalls: 50, maxTokens: 10_000_000 },
      script: ({ turn, mustCall }) => {
        if (turn === 0) return { calls: [plan] };
        if (mustCall !== undefined) return { calls: [submit()] };
        return { calls: Array.from({ length: 8 }, (_, index) => query(`${failing} LIMIT ${turn * 10 + index}`)) };
      },
    });
    expect(steps.length).toBeLessThanOrEqual(60);
    expect(end?.conclusion.category).toBe('dependency');
  });
});

describe('a run', () => {
  const script = inTurn(
    { calls: [plan, query()] },
    { calls: [{ name: 'list_services', input: lastHour }] },
    { calls: [submit()] },
  );

  it('that was interrupted goes on with what is recorded, and records nothing twice', async () => {
    const whole = await laboratory.investigate({ organizationId: shop, script });
    for (const cut of [3, whole.steps.length - 1, whole.steps.length]) {
      const resumed = await laboratory.investigate({
        organizationId: shop,
        script,
        assignment: { steps: whole.steps.slice(0, cut) },
      });
      const bare = (events: typeof whole.steps) => events.map(({ evidence_id: id, sql }) => ({ id, sql }));
      expect(bare(resumed.steps)).toEqual(bare(whole.steps));
      expect(resumed.events.filter(({ type }) => type === 'step')).toHaveLength(whole.steps.length - cut);
      expect(resumed.end?.answer).toBe(whole.end?.answer);
    }
  });

  it('that asks a person ends with the question, and goes on from the reply', async () => {
    const question: Call = { name: 'ask_human', input: { question: 'Was the key of payment changed at 11:35?' } };
    const asked = await laboratory.investigate({ organizationId: shop, script: inTurn({ calls: [plan, question] }) });
    expect(asked.events.at(-1)?.type).toBe('question');
    expect(asked.question).toContain('Was the key of payment changed at 11:35?');
    expect(asked.question).toContain('do not send any');
    const text = asked.question ?? '';
    const replied = await laboratory.investigate({
      organizationId: shop,
      script,
      messages: [
        saying('Why does checkout fail?'),
        saying(text, {
          role: 'agent',
          author: { kind: 'agent', id: 'llm', name: 'llm' },
          parts: [{ type: 'question', text }],
        }),
        saying('Yes, we rotated it.'),
      ],
      assignment: { steps: asked.steps },
    });
    expect(first().texts[0]).toContain('The question:\nYes, we rotated it.');
    expect(first().texts[0]).toContain('The same person: Why does checkout fail?');
    const repeated = replied.steps.map(({ sql }) => sql).filter((sql, index, all) => all.indexOf(sql) !== index);
    expect(repeated).toEqual([]);
    expect(replied.end?.conclusion.service).toBe('payment');
  });

  it('goes on with the model from a reply that is no question, whatever was found before in the chat', async () => {
    const before = await laboratory.investigate({ organizationId: shop, script });
    const conclusion = before.end?.conclusion ?? missing();
    const question = saying('Was the key changed?', {
      role: 'agent',
      author: { kind: 'agent', id: 'llm', name: 'llm' },
      parts: [{ type: 'question', text: 'Was the key changed?' }],
    });
    const replied = await laboratory.investigate({
      organizationId: shop,
      script,
      messages: [saying('Why does checkout fail?'), question, saying('Yes.'), question, saying('We did.')],
      assignment: { earlier: [{ askedAt: ago(1), conclusion, steps: before.steps }], steps: before.steps },
    });
    expect(first().texts[0]).toContain('The question:\nWe did.');
    expect(replied.end?.conclusion.category).toBe('dependency');
    expect(replied.steps.slice(0, 3).map(({ sql }) => sql)).toEqual(before.steps.slice(0, 3).map(({ sql }) => sql));
  });

  it('that is cancelled ends at once, while the model thinks', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const slow: Script = () => {
      stop.abort(reason);
      return { afterMs: 5_000 };
    };
    expect(await rejection(laboratory.investigate({ organizationId: shop, script: slow, signal: stop.signal }))).toBe(
      reason,
    );
  });
});

/* A real model, for whoever has a key; it costs some cents. */
const { ANTHROPIC_API_KEY: anthropic, OPENAI_API_KEY: openai, LIVE_MODEL: model } = process.env;
const live = anthropic
  ? { provider: 'anthropic', model: model ?? 'claude-sonnet-5-5', apiKey: anthropic }
  : openai
    ? { provider: 'openai', model: model ?? 'gpt-6.2-sol', apiKey: openai }
    : undefined;

if (live === undefined) {
  process.stderr.write('not run: an investigation with a real model (ANTHROPIC_API_KEY or OPENAI_API_KEY)\n');
} else {
  it('a real model finds a fault that is known', async () => {
    const { end } = await run(laboratory.agentWith(llm.configSchema.parse(live)), {
      organizationId: shop,
      signal: AbortSignal.timeout(300_000),
    });
    expect(end?.answer).toContain('Concluded by the model');
    expect(end?.conclusion.service).toBe('payment');
  }, 300_000);
}
