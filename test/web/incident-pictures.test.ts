import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  courseColumns,
  spreadColumns,
  type Incident,
  type InvestigationStep,
} from '../../src/contract/storage/index.ts';
import { readable } from '../support/person.ts';
import { engine, openWorkplace, operator, type Colleague, type Workplace } from './support/workplace.ts';

const minute = 60_000;
const from = Date.parse('2026-11-01T10:00:00Z');
const at = (minutes: number): string => new Date(from + minutes * minute).toISOString();
const agent = { kind: 'agent', id: engine, name: 'agent' } as const;
const trace = '5082f36de8996960a361f30fa7d19f6d';

const step = (seq: number, columns: readonly string[], rows: InvestigationStep['rows']): InvestigationStep => ({
  seq,
  evidence_id: `E${seq}`,
  question: seq === 5 ? `What happens in trace \`${trace}\`?` : 'What?',
  sql: 'SELECT 1',
  dialect: 'duckdb',
  window: { start: at(0), end: at(60) },
  columns,
  rows,
  row_count: rows.length,
  observation: 'It rose.',
  verdict: 'supports',
  elapsed_ms: 4,
  recorded_at: at(60),
});

const steps: readonly InvestigationStep[] = [
  step(
    1,
    ['service_name', 'name', 'spans', 'errors', 'spans_before', 'errors_before'],
    [['shop', 'buy', '100', '20', '200', '0']],
  ),
  step(
    2,
    courseColumns,
    Array.from({ length: 12 }, (_, index) => [at(index * 5), '20', index < 8 ? 0 : 5, 1e8, 2e8, 'shop', 'buy']),
  ),
  step(3, spreadColumns, [
    [100, '50', '90'],
    [200, '40', '10'],
  ]),
  step(4, ['caller', 'callee', 'count'], [['shop', 'bank', '100']]),
  step(
    5,
    [
      'time',
      'service_name',
      'name',
      'kind',
      'status_code',
      'status_message',
      'duration_nano',
      'span_id',
      'parent_span_id',
    ],
    [
      [at(41), 'shop', 'buy', 'SERVER', 'ERROR', '', '90000000', 'a', ''],
      [at(41), 'bank', 'charge', 'SERVER', 'ERROR', 'declined', 5e7, 'b', 'a'],
    ],
  ),
  step(
    6,
    ['first_seen', 'kind', 'service', 'version', 'flag', 'flag_value', 'status'],
    [[at(39), 'deploy', 'bank', '2.0.0', '', '', 'succeeded']],
  ),
  step(
    7,
    ['place', 'attribute', 'attribute_value', 'bad', 'rest', 'bad_total', 'rest_total'],
    [['span', 'card', 'amex', 20, 8, 20, 80]],
  ),
];

describe('the page of an investigated incident', () => {
  let place: Workplace;
  let ada: Colleague;
  let stranger: Colleague;
  beforeAll(async () => {
    place = await openWorkplace();
    ada = await place.enter('admin', 'ada@acme.example');
    stranger = await place.enter('admin', 'eve@globex.example', place.elsewhere);
  });
  afterAll(() => place.close());

  async function investigated(kept: readonly InvestigationStep[]): Promise<Incident> {
    const { incidents, investigations } = place.workspace;
    const incident = await incidents.create(
      {
        title: 'Buying fails',
        severity: 'high',
        source: 'test',
        startedAt: new Date(from + 42 * minute),
        detectedAt: new Date(from + 45 * minute),
        document: '## Next steps\n\n- Roll back `bank`.\n',
      },
      operator,
    );
    const { id } = await investigations.enqueue({ incidentId: incident.id, engine });
    for (const one of kept) await investigations.addStep(id, one);
    await investigations.finish(id, {
      status: 'completed',
      message: 'Done',
      author: agent,
      conclusion: {
        root_cause: 'All added failures begin in `bank`.',
        category: 'errors',
        service: 'bank',
        confidence: 'high',
        claims: [
          { text: '`shop` `buy` fails', status: 'supported', evidence_ids: ['E1'] },
          { text: '`card=amex`: all of the failing', status: 'supported', evidence_ids: ['E7'] },
          { text: 'For example this trace', status: 'supported', evidence_ids: ['E5'] },
        ],
        suspects: ['bank', 'cache'],
        suspicions: [{ service: 'cache', why: 'It is cold.', why_not: 'It is always cold.', evidence_ids: ['E4'] }],
        onset: at(40),
        trend: [0, 0, 0.25],
      },
    });
    await incidents.update(
      incident.id,
      {
        finding: {
          root_cause: 'All',
          category: 'errors',
          service: 'bank',
          confidence: 'high',
          claims: [],
          trend: [0, 0, 0.25],
        },
      },
      agent,
    );
    return incident;
  }

  it('says first what fails, since when, for whom, why, and what to do', async () => {
    const { key } = await investigated(steps);
    const page = readable((await ada.browser.get(`/incidents/${key}`)).text);
    const answers = [
      'What is wrong shop buy : 20 of 100 requests fail (20 %; before 0 %).',
      'Since 2026-11-01 10:40 UTC , noticed 5 min later',
      'Who is affected Callers of shop buy . card=amex : all of the failing',
      'Likeliest cause bank 2.0.0 deployed at 2026-11-01 10:39 UTC, as it began. All added failures begin in bank . high confidence',
      'What to do Roll back bank .',
      'Less likely cache : It is cold. Against it: It is always cold.',
    ];
    const plain = page.replaceAll(/\s*([.,:])/g, '$1');
    const places = answers.map((answer) => plain.indexOf(answer.replaceAll(/\s*([.,:])/g, '$1')));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('draws what the steps hold, each picture with its title, description and table, and asks nothing', async () => {
    const { key } = await investigated(steps);
    const { text } = await ada.browser.get(`/incidents/${key}`);
    const pictures = [...text.matchAll(/<svg class="gfx (?:plot|rows|map)" role="img" aria-labelledby="(\S+) (\S+)"/g)];
    for (const [, title, description] of pictures) {
      expect(text).toContain(`<title id="${title}">`);
      expect(text).toContain(`<desc id="${description}">`);
    }
    expect(new Set(pictures.map(([, title]) => title)).size).toBe(pictures.length);
    const page = readable(text);
    for (const part of [
      'Failing requests',
      'Latency',
      'Requests',
      'Service map',
      'Latency distribution',
      `Trace ${trace}`,
      'Share with it',
    ])
      expect(page).toContain(part);
    expect(page).toContain('2 spans of 2 services in 90 ms; 2 failed.');
    expect(page).toContain('2026-11-01 10:40 25 %');
    expect(text).toContain('bank: likeliest cause');
    expect(text).not.toContain('style=');
  });

  it('holds with rows of any kind', async () => {
    const bad: readonly unknown[] = [
      null,
      'x',
      -1,
      Number.MAX_VALUE,
      { a: 1 },
      [],
      '<img src=x onerror=alert(1)>',
      true,
    ];
    const spoiled = steps.map((one) => ({ ...one, rows: bad.map((cell) => one.columns.map(() => cell)) }));
    const { key } = await investigated([
      ...spoiled,
      ...steps.map((one) => ({ ...one, seq: one.seq + 10, rows: [[]] })),
    ]);
    for (const path of [`/incidents/${key}`, `/incidents/${key}/evidence`]) {
      const { status, text } = await ada.browser.get(path);
      expect(status).toBe(200);
      expect(text).not.toContain('<img src=x');
      expect(text).not.toMatch(/="[^"]*NaN[^"]*"/);
    }
  });

  it('leads to the change of status, which only the form makes', async () => {
    const { id, key } = await investigated(steps);
    const { text } = await ada.browser.get(`/incidents/${key}/change?status=resolved`);
    expect(text).toMatch(/<option value="resolved"\s+selected/);
    expect((await ada.browser.get(`/incidents/${key}/change?status=nonsense`)).text).toMatch(
      /<option value="triage"\s+selected/,
    );
    expect((await place.workspace.incidents.get(id))?.status).toBe('triage');
  });

  it('has its course in the list, and nothing of it in another organization', async () => {
    const { id, key } = await investigated(steps);
    expect((await ada.browser.get('/incidents')).text).toContain('aria-label="Course in 3 parts: worst in part 3"');
    expect((await stranger.browser.get('/incidents')).text).not.toContain('gfx spark');
    for (const path of [`/incidents/${key}`, `/incidents/${id}`, `/incidents/${key}/evidence`]) {
      const { status, text } = await stranger.browser.get(path);
      expect([status, text.includes('bank')]).toEqual([404, false]);
    }
  });
});
