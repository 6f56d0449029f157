import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/contract/core/index.ts';
import { incidentOf as incident } from '../../../test/support/incident.ts';
import type { Coverage } from '../steps/coverage.ts';
import type { TimeRange } from './time-range.ts';
import { type Asked, askedRange, placeWindows } from './windows.ts';

const at = (clock: string): Date => new Date(`2026-11-27T${clock}:00Z`);
const asked = (source: Asked['source']): Asked => ({ range: { start: at('08:30'), end: at('09:30') }, source });
const question = { references: [] };

/** Telemetry of one service, from 07:00 on. */
function until(last: Date): Coverage {
  const range = { start: at('07:00'), end: at('09:30') };
  const services = [{ name: 'checkout', rows: 900, recent: 300 }];
  const finding = { failed: false, evidenceId: 'E1' };
  return { ...finding, table: 'spans', recent: range, services, traced: true, first: at('07:00'), last };
}

const incidentOf = (startedAt: Date) => ({ startedAt });

describe('the stretch that is looked at', () => {
  it('ends where the telemetry does, so that a service is not taken for silent which all others are, too', () => {
    const placed = placeWindows(asked('default'), until(at('09:28')), question);
    const end = new Date(at('09:28').getTime() + 1);
    expect(placed?.windows.now).toEqual({ start: new Date(at('08:28').getTime() + 1), end });
    expect(placed?.notes).toEqual([]);
    expect(placeWindows(asked('incident'), until(at('09:28')), question)?.windows.now).toEqual({
      start: at('08:30'),
      end,
    });
  });

  it('moves to where there is telemetry, and says so, once that ended minutes ago', () => {
    const placed = placeWindows(asked('default'), until(at('09:00')), question);
    expect(placed?.windows.now).toEqual({
      start: new Date(at('08:00').getTime() + 1),
      end: new Date(at('09:00').getTime() + 1),
    });
    expect(placed?.notes).toEqual([
      expect.stringContaining('spans of all services end at 2026-11-27 09:00 UTC, so what came later is not known'),
    ]);
  });

  it('is none for an incident that began after the telemetry ends, unless another time was named', () => {
    const sent = until(at('08:46'));
    expect(placeWindows(asked('default'), sent, question, incidentOf(at('09:07')))).toBeUndefined();
    expect(placeWindows(asked('incident'), sent, question, incidentOf(at('09:07')))).toBeUndefined();
    expect(placeWindows(asked('named'), sent, question, incidentOf(at('09:07')))).toBeDefined();
    expect(placeWindows(asked('default'), sent, question, incidentOf(at('08:40')))).toBeDefined();
  });
});

describe('a time that is told roughly in an incident', () => {
  const organizationId = newId('org');
  const range = { start: at('08:30'), end: at('09:30'), rough: true } as const;
  const look = (startedAt: string, more: { readonly resolvedAt?: Date } = {}, told: TimeRange = range) =>
    askedRange(
      { range: told },
      {
        organizationId,
        messages: [],
        steps: [],
        askedAt: at('09:30'),
        incident: incident(organizationId, { startedAt: at(startedAt), ...more }),
      },
    );

  it('means the start of the incident, which is known', () => {
    expect(look('09:10')).toEqual({ range: { start: at('09:09'), end: at('09:30') }, source: 'incident' });
  });

  it('is looked at as told where that can hardly be meant, or another is named', () => {
    const asTold = { range, source: 'default' };
    expect(look('09:25')).toEqual(asTold);
    expect(look('07:10')).toEqual(asTold);
    expect(look('09:10', { resolvedAt: at('09:20') })).toEqual(asTold);
    const named = { start: at('08:30'), end: at('09:30') };
    expect(look('09:10', {}, named)).toEqual({ range: named, source: 'named' });
  });
});
