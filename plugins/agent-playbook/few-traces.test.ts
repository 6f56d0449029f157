import { describe, expect, it } from '@jest/globals';
import { contradicts, heldTo, type Evidence } from '../../src/contract/agent/index.ts';
import { suspectsWithoutTraces, type WithoutTraces } from './few-traces.ts';
import type { LogPattern } from './steps/log-patterns.ts';
import type { Faring } from './steps/request-gauges.ts';

const finding = { evidenceId: 'E1', failed: false };
const gauge = (service: string, value: number, valueBefore: number, requests = 1_000): Faring => ({
  service,
  metric: 'gauge',
  unit: '',
  value,
  valueBefore,
  requests,
  weight: 1,
  worse: true,
});
const line = (service: string, example: string, count = 10): LogPattern => ({
  service,
  example,
  count,
  pattern: example,
  before: 0,
  isNew: true,
  worse: true,
  isError: true,
});

function first(
  known: Partial<Record<'failing' | 'late', readonly Faring[]>> & Partial<Pick<WithoutTraces, 'calls'>>,
  ...worse: readonly LogPattern[]
) {
  const faring = (of: readonly Faring[] = []) => ({ ...finding, faring: of.length === 0 ? [] : [of] });
  return suspectsWithoutTraces({
    failing: faring(known.failing),
    late: faring(known.late),
    logs: { ...finding, worse },
    said: true,
    calls: known.calls ?? [],
  }).map(({ service }) => service);
}

describe('without traces', () => {
  it('failures lead, unless far more requests became slow', () => {
    const late = [gauge('slow', 3, 1)];
    expect(first({ failing: [gauge('failing', 60, 100)], late })).toEqual(['failing', 'slow']);
    expect(first({ failing: [gauge('failing', 99, 100)], late })).toEqual(['slow', 'failing']);
  });

  it('a caller comes after what it calls, as traces or its own new lines tell', () => {
    const failing = [gauge('front', 60, 100), gauge('deep', 70, 100)];
    expect(first({ failing })).toEqual(['front', 'deep']);
    expect(first({ failing, calls: [{ caller: 'front', callee: 'deep' }] })).toEqual(['deep', 'front']);
    expect(first({ failing }, line('front', 'upstream deep answered 503', 40))).toEqual(['deep', 'front']);
  });

  it('new errors in the logs alone name a service', () => {
    expect(first({}, line('a', 'odd', 6), line('b', 'broken', 30))).toEqual(['b', 'a']);
  });
});

describe('a claim against its own evidence', () => {
  const step = (verdict: Evidence['verdict'], observation = ''): Evidence => ({
    evidence_id: 'E1',
    verdict,
    observation,
  });
  const claim = (text: string) => ({ text, status: 'supported' as const, evidence_ids: ['E1'] });

  it('denies what is shown, or asserts what all refutes', () => {
    expect(contradicts(claim('No operation is slower than before.'), [step('supports')])).toBe(true);
    expect(contradicts(claim('No operation is slower than before.'), [step('refutes')])).toBe(false);
    expect(contradicts(claim('`a` is slow.'), [step('refutes')])).toBe(true);
    expect(contradicts(claim('`a` logs `No route`.'), [step('supports')])).toBe(false);
  });

  it('is none where the evidence shows it of others', () => {
    const denial = claim('`a` itself fails no more.');
    expect(contradicts(denial, [step('supports', '`b` fails 9 % of 100.')])).toBe(false);
    expect(contradicts(denial, [step('supports', '`a` fails 9 % of 100.')])).toBe(true);
  });

  it('is held as a hypothesis, with low confidence', () => {
    const conclusion = {
      root_cause: 'x',
      category: 'errors',
      service: 'a',
      confidence: 'high' as const,
      claims: [claim('`a` is slow.')],
    };
    expect(heldTo(conclusion, [step('refutes')])).toMatchObject({
      confidence: 'low',
      claims: [{ status: 'hypothesis' }],
    });
    expect(heldTo(conclusion, [step('supports')])).toBe(conclusion);
  });
});
