import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { rfc3339 } from './time.ts';

const infinite = 2n ** 63n - 1n;
const dayNanos = 86_400n * 10n ** 9n;

const digits = fc.constantFrom(0 as const, 3 as const, 6 as const, 9 as const);
/** Small numbers as often as large ones, and those around whole seconds and days. */
const ticks = fc
  .tuple(
    fc.bigInt({ min: 1n - infinite, max: infinite - 1n }),
    fc.nat(63),
    fc.constantFrom(1n, 10n ** 6n, 10n ** 9n, dayNanos),
    fc.constantFrom(-1n, 0n, 1n),
  )
  .map(([number, bits, unit, beside]) => ((number >> BigInt(bits)) / unit) * unit + beside)
  .filter((number) => number > -infinite && number < infinite);

it('writes a time so that it reads as the same again', () => {
  fc.assert(
    fc.property(ticks, digits, (number, places) => {
      const perSecond = 10n ** BigInt(places);
      const seconds = (number - (((number % perSecond) + perSecond) % perSecond)) / perSecond;
      const text = rfc3339(number, places);
      if (seconds > 8_640_000_000_000n || seconds < -8_640_000_000_000n) {
        expect(text).toBe(`${seconds}s`);
        return;
      }
      const [, whole, fraction = ''] = /^(.+:\d\d)(?:\.((?:\d{3})+))?Z$/.exec(text) ?? [];
      const read = (BigInt(Date.parse(`${whole}Z`)) / 1_000n) * perSecond + BigInt(fraction.padEnd(places, '0') || '0');
      expect(read).toBe(number);
      expect(fraction.endsWith('000')).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  [0n, 6, '1970-01-01T00:00:00Z'],
  [-1n, 6, '1969-12-31T23:59:59.999999Z'],
  [1_763_800_000_120_000n, 6, '2025-11-22T08:26:40.120Z'],
  [1_763_800_000_000_000_001n, 9, '2025-11-22T08:26:40.000000001Z'],
  [infinite, 6, 'infinity'],
  [-infinite, 6, '-infinity'],
  [8_640_000_000_001n, 0, '8640000000001s'],
] as const)('%d of %d digits is %s', (number, places, text) => {
  expect(rfc3339(number, places)).toBe(text);
});
