import { describe, expect, it } from '@jest/globals';
import type { Claim, Conclusion } from '../../../src/contract/storage/index.ts';
import type { Noted } from '../notebook.ts';
import { nothing, recall, recount } from './recall.ts';

const claims = (...texts: readonly string[]): readonly Claim[] =>
  texts.map((text) => ({ text, status: 'supported', evidence_ids: [] }));
const well = ['No operation fails more than before.', 'No operation is slower than before.'];
const rare =
  'Nothing that hits fewer than 10 % of the calls would show: `a` `GET /` has most of them, 50 and 60 before.';

function said(found: readonly Claim[], cause = '', service = ''): string | undefined {
  const conclusion: Conclusion = { root_cause: cause, category: 'none', service, confidence: 'none', claims: found };
  return nothing({ conclusion, steps: [] });
}

describe('what a follow-up says where no service was blamed', () => {
  it('calls well only what was seen often enough and did not change', () => {
    expect(said(claims(...well))).toContain('Nothing was found to be wrong');
    expect(said(claims(...well, rare))).toBe(
      `Nothing stands out: no operation fails more or is slower than before. ${rare}`,
    );
    expect(said(claims('No single operation fails more than before.', well[1] ?? ''))).toBe(
      'Nothing was found that is the cause of anything.',
    );
    expect(said(claims(...well), 'Only the logs have changed: `a` logs `b` 10 times (new).')).toBe(
      'No cause was found. Only the logs have changed: `a` logs `b` 10 times (new).',
    );
    expect(said(claims(), '', 'a')).toBeUndefined();
  });
});

describe('what is said to have been looked for and not found', () => {
  const step = (id: string, question: string, verdict: Noted['verdict']): Noted => ({
    evidence_id: id,
    question,
    verdict,
    observation: 'None does.',
    sql: 'SELECT 1',
    window: { start: '', end: '' },
    columns: [],
    rows: [],
  });

  it('was found by no other look of the investigation, and is not what an answer since looked for', () => {
    const conclusion: Conclusion = {
      root_cause: 'x.',
      category: 'errors',
      service: 'a',
      confidence: 'high',
      claims: [],
    };
    const steps = [
      step('E5', 'Which versions are new?', 'refutes'),
      step('E1', 'Which fail more?', 'refutes'),
      step('E2', 'Which are slower?', 'refutes'),
      step('E3', 'Which fail more?', 'supports'),
    ];
    expect(recount({ kind: 'certainty' }, { conclusion, steps }, new Date(0))).toBe(
      'I am of high confidence: x.\n\n`why?` shows all that this rests on, and what was looked for and not found.',
    );
    const said = recount({ kind: 'reasons' }, { conclusion, steps }, new Date(0));
    expect(said).toContain('Looked for, and not found:\n- Which are slower? None. [E2]\n\n');
  });
});

describe('traces that were found before', () => {
  it('say what failed, also in steps that 0.1.0 recorded under the name of the column', () => {
    const conclusion: Conclusion = { root_cause: '', category: 'errors', service: 'a', confidence: 'high', claims: [] };
    const shown = (column: string) =>
      recall(
        { kind: 'traces', by: undefined, one: false },
        [
          {
            askedAt: new Date(0),
            conclusion,
            steps: [
              {
                seq: 1,
                evidence_id: 'E1',
                question: 'Which traces show it?',
                sql: 'SELECT 1',
                dialect: 'duckdb',
                window: { start: '', end: '' },
                columns: ['trace_id', 'service_name', 'name', 'status_code', column, 'duration_nano'],
                rows: [['t1', 'a', 'GET /', 'ERROR', 'no space left', '1000000']],
                row_count: 1,
                observation: '',
                verdict: 'supports',
                elapsed_ms: 1,
                recorded_at: '',
              },
            ],
          },
        ],
        new Date(0),
      );
    for (const column of ['message', 'status_message']) expect(shown(column)).toContain('saying `no space left`');
  });
});
