import { describe, expect, it } from '@jest/globals';
import { reaches } from '../plugins/agent-playbook/sql.ts';
import { misbehaving, rank } from '../plugins/agent-playbook/ranking.ts';
import { binomialTail, changePoint } from '../plugins/agent-playbook/statistics.ts';
import type { Behaviour } from '../plugins/agent-playbook/steps/behaviour.ts';
import { deepestAdding, type AddedTime, type Suspect } from '../plugins/agent-playbook/suspects.ts';

const calls = [
  { caller: 'front', callee: 'middle' },
  { caller: 'middle', callee: 'deep' },
  { caller: 'deep', callee: 'front' },
];

describe('blame', () => {
  const change = (service: string, g: number, hits: number): Behaviour => ({
    kind: 'line',
    evidenceId: 'E1',
    service,
    operation: 'op',
    what: 'line',
    times: 0,
    hits,
    spans: 100,
    hitsBefore: 0,
    spansBefore: 100,
    g,
  });
  const first = (...changes: readonly Behaviour[]) =>
    misbehaving({ failed: false, changes }, calls.slice(0, 2))[0]?.service;

  it('for other behaviour goes to the deepest service that behaves otherwise, through services that do not', () => {
    expect(first(change('front', 60, 50), change('deep', 30, 40))).toBe('deep');
  });

  it('stays where a deeper change is too small, or touches too few, to explain it', () => {
    expect(first(change('front', 60, 50), change('deep', 17, 40))).toBe('front');
    expect(first(change('front', 60, 90), change('deep', 30, 20))).toBe('front');
  });

  it('for added time goes to the deepest that adds alike, and to none that nobody notices', () => {
    const adding = (service: string, added: number, felt: number): AddedTime => ({
      service,
      added,
      felt,
      share: 0.5,
      worse: true,
      own: undefined,
      late: undefined,
    });
    expect(deepestAdding([adding('front', 10, 0.5), adding('deep', 5, 0.3)], calls.slice(0, 2))?.service).toBe('deep');
    expect(deepestAdding([adding('front', 10, 0.5), adding('deep', 1, 0.3)], calls.slice(0, 2))?.service).toBe('front');
    expect(deepestAdding([adding('front', 10, 0.02)], calls)).toBeUndefined();
  });

  it('follows calls through others, and ends where they go round', () => {
    expect(reaches(calls, 'front', 'deep')).toBe(true);
    expect(reaches(calls, 'front', 'elsewhere')).toBe(false);
    expect(reaches(calls.slice(0, 2), 'deep', 'front')).toBe(false);
  });
});

describe('the ranking', () => {
  const suspect = (category: Suspect['category'], service: string, excess = 100): Suspect => ({
    category,
    service,
    operation: '',
    dependency: '',
    share: 1,
    excess,
    message: '',
    evidenceIds: [],
    seenIn: { service, operation: undefined },
  });

  it('lets failures speak before a used-up resource that explains nothing, and both before mere behaviour', () => {
    const ranked = rank({
      explaining: [],
      failing: suspect('errors', 'a'),
      slow: undefined,
      starving: [suspect('resource', 'b')],
      misbehaving: [suspect('behaviour', 'c'), suspect('behaviour', 'a')],
      unsettled: [],
      time: [],
      said: true,
    });
    expect(ranked.map(({ service }) => service)).toEqual(['a', 'b', 'c']);
  });

  it('puts a used-up resource first where its service became slow too', () => {
    const slowed = { service: 'b', added: 1, share: 0.1, felt: 0.2, worse: true, own: undefined, late: undefined };
    const ranked = rank({
      explaining: [],
      failing: undefined,
      slow: suspect('latency', 'a'),
      starving: [suspect('resource', 'b')],
      misbehaving: [],
      unsettled: [],
      time: [slowed],
      said: true,
    });
    expect(ranked.map(({ service }) => service)).toEqual(['b', 'a']);
  });
});

describe('chance', () => {
  it('is the binomial tail', () => {
    expect(binomialTail(0, 5, 0.05)).toBe(1);
    expect(binomialTail(5, 5, 0.05)).toBeCloseTo(0.05 ** 5, 12);
    expect(binomialTail(1, 2, 0.5)).toBeCloseTo(0.75, 12);
  });

  it('finds where a change begins although it is over before the series is', () => {
    const series = [0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0, 0].map((hits) => ({ hits, total: 10 }));
    expect(changePoint(series, { span: 2 })?.index).toBe(4);
  });
});
