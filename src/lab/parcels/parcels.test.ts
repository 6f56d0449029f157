import { describe, expect, it } from '@jest/globals';
import { generateParcels, onsetOf, parcelScenarios, type ParcelOptions, type ParcelScenario } from './generate.ts';

const options = (scenario: ParcelScenario): ParcelOptions => ({
  scenario,
  seed: 5,
  minutes: 20,
  end: new Date('2026-03-01T12:00:00Z'),
  rate: 20,
});

function bodies(scenario: ParcelScenario, signal?: string): readonly string[] {
  return [...generateParcels(options(scenario))]
    .filter((each) => signal === undefined || each.signal === signal)
    .map(({ body }) => body);
}

describe('the carrier of parcels', () => {
  it('makes the same bytes from the same options, and all three signals', () => {
    expect(bodies('bad-host')).toEqual(bodies('bad-host'));
    for (const signal of ['traces', 'logs', 'metrics']) expect(bodies('bad-host', signal).length).toBeGreaterThan(0);
  });

  it('has a quiet twin beside every kind of fault', () => {
    const scenarios = parcelScenarios().map(([, scenario]) => scenario);
    const quiet = scenarios.filter(({ cause }) => cause === undefined);
    expect(quiet.length).toBeGreaterThanOrEqual(scenarios.length - quiet.length);
  });

  it('lets a service fall silent at the onset and none else', () => {
    const onset = BigInt(onsetOf(options('silent-reader')).getTime()) * 1_000_000n;
    const last = (service: string): bigint =>
      bodies('silent-reader', 'traces')
        .filter((body) => body.includes(`"stringValue":"${service}"`))
        .flatMap((body) => ofService(body, service).match(/(?<="startTimeUnixNano":")\d+/g) ?? [])
        .reduce((latest, time) => (BigInt(time) > latest ? BigInt(time) : latest), 0n);
    expect(last('notifier')).toBeLessThan(onset + 1_000_000_000n);
    expect(last('billing')).toBeGreaterThan(onset + 60_000_000_000n);
  });
});

/** The part of a body that one service sent. */
function ofService(body: string, service: string): string {
  return body
    .split('{"resource"')
    .filter((part) => part.includes(`"key":"service.name","value":{"stringValue":"${service}"`))
    .join('');
}
