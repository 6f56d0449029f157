import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newOrganization } from '../plugins/telemetry-duckdb/support/harness.ts';
import type { OrganizationId } from '../src/contract/core/index.ts';
import type { EarlierInvestigation } from '../src/contract/agent/index.ts';
import { ago, askedAt, lastHour, LlmLaboratory, saying } from './support/llm-laboratory.ts';
import type { Call, Script } from './support/model-api.ts';
import { makeTraffic } from './support/traffic.ts';

/* What people say in a chat beside the questions that the playbook knows, once something was found in it. */

let laboratory: LlmLaboratory;
let shop: OrganizationId;
let earlier: readonly EarlierInvestigation[];
beforeAll(async () => {
  laboratory = await LlmLaboratory.start();
  shop = newOrganization();
  const { spans, logs } = makeTraffic(ago(120), askedAt, { kind: 'payment-errors', from: ago(25), to: askedAt });
  await laboratory.harness.load(shop, 'spans', spans);
  await laboratory.harness.load(shop, 'logs', logs);
  const { end, steps } = await laboratory.investigate({ organizationId: shop, withoutModel: true });
  if (end === undefined) throw new Error('the playbook came to no conclusion');
  earlier = [{ askedAt: ago(1), conclusion: end.conclusion, steps }];
});
afterAll(() => laboratory.stop());
afterEach(() => expect(laboratory.api.problems).toEqual([]));

const first = saying('Why does checkout fail?', { time: ago(2) });
const ask = (question: string, script: Script) =>
  laboratory.investigate({
    organizationId: shop,
    messages: [first, saying(question)],
    assignment: { earlier, evidenceAfter: earlier[0]?.steps.length ?? 0 },
    script,
  });
const replies = (...paragraphs: readonly object[]): Call => ({ name: 'answer', input: { paragraphs } });
const inProse: Script = () => ({
  calls: [replies({ text: 'Das weiß ich: „payment“ schlägt fehl.', evidence_ids: ['E2'] })],
});

describe('a free question', () => {
  it.each([
    'Bitte prüfe die Datenbank der Zahlungen',
    'Roll it back to 2.3.7 please',
    'Summarize it for my manager in two sentences',
    'write a postmortem',
    'Translate the findings to German',
    'Übersetze das Ergebnis ins Französische',
    'Fasse das in zwei Sätzen zusammen',
    'Warum ist die Kasse kaputt?',
    'Pourquoi les paiements échouent-ils ?',
    '¿Qué servicio falla?',
    '支払いが失敗する理由は何ですか？',
    'Почему не работает оплата?',
    'draft a status page update',
    'Tell it to a new colleague as a story',
    'Write a Slack message to the payments team',
    'Turn this into a Jira ticket',
    'Suggest three alerts that would have caught it',
    'Rewrite the root cause without jargon',
    'Name the runbook for that',
    'I disagree, it is the network',
    'Please open a pull request with the fix',
    'Delete all telemetry of payment',
    'thank you so much, great work',
    'lorem ipsum dolor',
    'Seit wann ist das so?',
    'Welche Version ist schuld?',
    'Ist es die Datenbank?',
    'Wie viele Kunden sind betroffen?',
    'Was soll ich tun?',
    'Depuis quand ?',
    '¿Desde cuándo?',
    'Zeig mir die Traces',
  ])('reaches the model: %s', async (question) => {
    const before = laboratory.api.asked.length;
    const { events } = await ask(question, inProse);
    expect(laboratory.api.asked.length).toBeGreaterThan(before);
    expect(laboratory.api.asked.at(-1)?.texts[0]).toContain(`The question:\n${question}`);
    const end = events.at(-1);
    expect(end?.type).toBe('answer');
    expect(end).toHaveProperty('answer', expect.stringContaining('Das weiß ich: „payment“ schlägt fehl. [E2]'));
  });

  it('that the playbook answers costs no request', async () => {
    const before = laboratory.api.asked.length;
    for (const question of ['show me the SQL', 'why?', 'E2']) await ask(question, inProse);
    expect(laboratory.api.asked).toHaveLength(before);
  });
});

describe('an answer in prose', () => {
  it('is given what was found, and cites only what there is', async () => {
    const { events } = await ask('Summarize it for my manager', () => ({
      calls: [
        replies(
          { text: 'See [this](https://evil.example/a) <b>now</b>.', evidence_ids: ['E2', 'E999', 'E2'] },
          { text: 'It will be fine.' },
        ),
      ],
    }));
    const told = laboratory.api.asked.at(-1)?.texts[0] ?? '';
    expect(told).toContain(JSON.stringify(earlier[0]?.steps[1]?.question));
    const end = events.at(-1);
    if (end?.type !== 'answer') throw new Error('no answer');
    expect(end.unanswered).toBeUndefined();
    expect(end.answer).not.toContain('evil.example');
    expect(end.answer).not.toContain('E999');
    expect(end.answer).toContain('[E2]');
    expect(end.answer).toContain(`- E2: ${earlier[0]?.steps[1]?.observation}`);
    expect(end.answer).toContain('Answered by the model `scripted`');
    expect(end.answer).toContain('What names no evidence is the word of the model.');
    expect(end.parts).toEqual([{ type: 'query', evidence_id: 'E2', sql: earlier[0]?.steps[1]?.sql }]);
  });

  it('may rest on new queries, whose ids are no earlier ones', async () => {
    const sql = 'SELECT count(*) AS n FROM otel.spans WHERE time >= {start} AND time < {end}';
    const query: Call = { name: 'query_otel', input: { question: 'How many?', sql, ...lastHour } };
    const closer: Call = { name: 'look_closer', input: { services: ['catalog'], start: ago(50), end: ago(30) } };
    const plan: Call = { name: 'make_plan', input: { todo: ['count'] } };
    const known = new Set(earlier.flatMap(({ steps }) => steps.map(({ evidence_id: id }) => id)));
    const { events, steps } = await ask('Count them please', ({ turn, results }) => {
      if (turn === 0) return { calls: [plan, query, closer] };
      const [, shown] = results;
      return { calls: [replies({ text: 'So many.', evidence_ids: [shown?.text.split(':')[0] ?? ''] })] };
    });
    const ids = steps.map(({ evidence_id: id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => known.has(id))).toEqual([]);
    expect(events.at(-1)).toHaveProperty('answer', expect.stringContaining(`So many. [${ids[0]}]`));
  });

  it('is taken without a call, too', async () => {
    const { events } = await ask('Summarize it', () => ({ text: 'Payment fails [E2].\n\n- Roll it back.' }));
    expect(events.at(-1)).toHaveProperty(
      'answer',
      expect.stringMatching(/^Payment fails\. \[E2\]\n\n- Roll it back\./),
    );
  });

  it('is what the model is held to when its budget ends', async () => {
    const forced: (string | undefined)[] = [];
    await laboratory.investigate({
      organizationId: shop,
      messages: [first, saying('write a postmortem')],
      assignment: { earlier, evidenceAfter: earlier[0]?.steps.length ?? 0 },
      limits: { maxToolCalls: 1 },
      script: ({ mustCall }) => {
        forced.push(mustCall);
        return {
          calls: [mustCall === undefined ? { name: 'make_plan', input: { todo: ['x'] } } : replies({ text: 'So.' })],
        };
      },
    });
    expect(forced).toEqual([undefined, 'answer']);
  });

  it('is not to be had where nobody asked', async () => {
    const { end } = await laboratory.investigate({
      organizationId: shop,
      messages: [],
      limits: { maxToolCalls: 1 },
      script: () => ({ calls: [replies({ text: 'So.' })] }),
    });
    expect(end?.answer).toContain('did not submit');
    const { body, system } = laboratory.api.asked.at(-1) ?? {};
    expect(body?.includes('"name":"answer","description"')).toBe(false);
    expect(system).not.toContain('end with answer');
  });

  it('that fails leaves the help, and says why', async () => {
    const { events } = await ask('write a poem about it', () => ({ status: 401, raw: '{}' }));
    expect(events.at(-1)).toMatchObject({ type: 'answer', unanswered: true });
    expect(events.at(-1)).toHaveProperty(
      'answer',
      expect.stringMatching(/^_The model could not be asked: .*[^.]\._\n[^]*only checkout/),
    );
  });
});
