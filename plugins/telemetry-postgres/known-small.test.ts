import { describe, expect, it } from '@jest/globals';
import { KnownSmall, notKept } from './known-small.ts';

const label = (principal: string) => ({ principal, tool: 'query_otel', traceId: 'abc' });
const named = (known: KnownSmall, text: string, principal = 'ak_1') => known.get('acme', text)?.of(label(principal));

function answered(...texts: readonly string[]): KnownSmall {
  const known = new KnownSmall();
  for (const text of texts) known.note('acme', text, { bytes: 10, quick: true });
  return known;
}

describe('statements of few rows', () => {
  it('have a name by what they say, the same in every process, and another for everything else', () => {
    const [one, other] = [answered('SELECT 1', 'SELECT 2'), answered('SELECT 2', 'SELECT 1')];
    expect(named(one, 'SELECT 1')).toEqual(named(other, 'SELECT 1'));
    const names = [
      named(one, 'SELECT 1'),
      named(one, 'SELECT 2'),
      named(one, 'SELECT 1', 'ak_2'),
      named(one, 'SELECT 2', 'ak_2'),
    ].map((statement) => statement?.name);
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^sightline_q_[0-9a-f]{32}$/);
  });

  it('are kept once they were answered, not where they only say that they are few, nor for ever more askers', () => {
    const known = new KnownSmall();
    known.expect('acme', 'SELECT 1');
    expect([known.get('acme', 'SELECT 1')?.bytes, named(known, 'SELECT 1')]).toEqual([4_096, undefined]);
    known.note('acme', 'SELECT 1', { bytes: 3, quick: true });
    for (let asker = 0; asker < 20; asker += 1) {
      expect(named(known, 'SELECT 1', `ak_${asker}`) !== undefined).toBe(asker < 16);
    }
  });

  it('are believed no more once they had many, whatever they say, until they have few again', () => {
    const known = answered('SELECT 1');
    known.note('acme', 'SELECT 1', undefined);
    known.expect('acme', 'SELECT 1');
    expect(known.get('acme', 'SELECT 1')).toBeUndefined();
    known.note('acme', 'SELECT 1', { bytes: 3, quick: true });
    expect(known.get('acme', 'SELECT 1')?.bytes).toBe(3);
  });

  it('are quick from a quick answer on, until they were slow with others again and again, or alone, or held all others up', () => {
    const known = answered('SELECT 1');
    const statement = known.get('acme', 'SELECT 1');
    const together = (...slow: readonly boolean[]) => {
      for (const each of slow) statement?.wasSlow(each);
      return statement?.quick;
    };
    const alone = (quick: boolean) => {
      known.note('acme', 'SELECT 1', { bytes: 10, quick });
      return statement?.quick;
    };
    expect([together(true, true, true, false), together(true, true, true), together(true)]).toEqual([
      true,
      true,
      false,
    ]);
    expect([together(false), alone(true), together(true, true, true), alone(false), alone(true)]).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
    statement?.isSlow();
    expect(statement?.quick).toBe(false);
  });

  it('are never kept where they must not be prepared', () => {
    const known = answered(`SELECT timestamptz 'now'${notKept}`);
    expect(known.get('acme', `SELECT timestamptz 'now'${notKept}`)?.bytes).toBe(10);
    expect(named(known, `SELECT timestamptz 'now'${notKept}`)).toBeUndefined();
  });

  it("are each tenant's own, and no more than so many, however many tenants there are", () => {
    const known = answered('SELECT 1');
    expect(known.get('other', 'SELECT 1')).toBeUndefined();
    known.note('other', 'SELECT 1', undefined);
    expect(known.get('acme', 'SELECT 1')?.bytes).toBe(10);
    for (let tenant = 0; tenant < 40; tenant += 1) {
      for (let text = 0; text < 100; text += 1)
        known.note(`tenant ${tenant}`, `SELECT ${text}`, { bytes: 1, quick: true });
    }
    const kept = Array.from({ length: 40 }, (_, tenant) =>
      Array.from({ length: 100 }, (_, text) => known.get(`tenant ${tenant}`, `SELECT ${text}`)),
    ).flat();
    expect(kept.filter((each) => each !== undefined)).toHaveLength(2_000);
    expect([known.get('acme', 'SELECT 1'), kept.at(-1)?.bytes]).toEqual([undefined, 1]);
  });
});
