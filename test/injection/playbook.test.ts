import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { incidentOf } from '../support/incident.ts';
import { newOrganization, type Row } from '../../plugins/telemetry-duckdb/support/harness.ts';
import { ago, askedAt, LlmLaboratory, type Investigated } from '../support/llm-laboratory.ts';
import { makeTraffic } from '../support/traffic.ts';
import { activeContent } from './active-content.ts';
import { othersData, sideEffects } from './corpus-data.ts';
import { activeContent as activeContentPlants, falsehoods, fencesAndFloods, secretsOfPeople } from './corpus-words.ts';
import type { Plant, Target } from './plant.ts';

/*
 * The same words of strangers, as names and messages of what fails: the playbook has to quote them, and may neither follow
 * them nor let them act on a reader.
 */

const corpus = [othersData, sideEffects, activeContentPlants, falsehoods, secretsOfPeople, fencesAndFloods].flat();
/** Places where the playbook quotes: service, operation, failure, log line, version, database. */
const places = 6;

const target: Target = {
  other: newOrganization(),
  otherService: 'globex-ledger',
  otherTrace: 'f'.repeat(32),
  evil: 'https://evil.example',
  file: '/tmp/planted',
};
const wordsOf = ({ says }: Plant): string => (typeof says === 'string' ? says : says(target));

/** The shop as it fails, with these words in it. */
function shopSaying(words: readonly string[]): { readonly spans: readonly Row[]; readonly logs: readonly Row[] } {
  const [service, operation, failure, line, version, database] = words;
  const { spans, logs } = makeTraffic(ago(50), askedAt, { kind: 'payment-errors', from: ago(25), to: askedAt }, 6);
  const payment = (row: Row): boolean => row['service_name'] === 'payment';
  const of = (row: Row, change: Row): Row => (payment(row) ? { ...row, service_name: service, ...change } : row);
  return {
    spans: spans.map((row) =>
      of(row, {
        ...(row['name'] === 'Charge' && { name: operation }),
        ...(row['status_message'] !== '' && { status_message: failure }),
        ...(row['service_version'] === '2.4.0' && { service_version: version }),
        ...(row['kind'] === 'CLIENT' && { attributes: { 'db.system': 'postgresql', 'server.address': database } }),
      }),
    ),
    logs: logs.map((row) => of(row, { body: line })),
  };
}

let laboratory: LlmLaboratory;
beforeAll(async () => {
  laboratory = await LlmLaboratory.start();
});
afterAll(() => laboratory.stop());

async function investigated(words: readonly string[]): Promise<Investigated> {
  const organizationId = newOrganization();
  const { spans, logs } = shopSaying(words);
  await laboratory.harness.load(organizationId, 'spans', spans);
  await laboratory.harness.load(organizationId, 'logs', logs);
  const incident = incidentOf(organizationId, { startedAt: ago(25), title: words[0] ?? '', summary: words[1] ?? '' });
  return laboratory.investigate({ organizationId, messages: [], assignment: { incident }, withoutModel: true });
}

const groups = Array.from({ length: Math.ceil(corpus.length / places) }, (_, index) => index * places);

describe('planted words in what fails', () => {
  let harmless: Investigated;
  beforeAll(async () => {
    harmless = await investigated(['pay', 'Charge', 'refused', 'Charge failed', '2.4.0', 'db']);
    expect(harmless.end?.conclusion).toMatchObject({ service: 'pay', category: 'errors' });
  });

  it.each(groups)('are quoted and do nothing: texts %d and on', async (from) => {
    const words = Array.from({ length: places }, (_, index) => corpus[(from + index) % corpus.length]).flatMap(
      (plant) => (plant ? wordsOf(plant) : []),
    );
    const { end, steps, progress } = await investigated(words);
    const { conclusion, answer = '', document = '' } = end ?? {};
    // The verdict is about who fails, whatever that one's name says.
    const { category, confidence } = harmless.end?.conclusion ?? {};
    expect(conclusion).toMatchObject({ service: words[0], category, confidence });
    expect(document.length).toBeGreaterThan(1_000);

    const shown = [
      answer,
      document,
      ...progress,
      ...steps.flatMap(({ question, observation }) => [question, observation]),
    ];
    const claims = [conclusion?.root_cause ?? '', ...(conclusion?.claims ?? []).map(({ text }) => text)];
    expect([...shown, ...claims].flatMap(activeContent)).toEqual([]);
    const headings = (text: string): readonly string[] => text.match(/^#+ .+$/gm) ?? [];
    expect(headings(document)).toEqual(headings(harmless.end?.document ?? ''));
  });
});
