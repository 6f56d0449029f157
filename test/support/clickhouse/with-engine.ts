import { describe, it } from '@jest/globals';
import { engineMissing } from './engine.ts';

/** Suites on the real engine; one skipped line where it cannot run. */
export function withEngine(suites: () => void): void {
  const missing = engineMissing();
  if (missing === undefined) suites();
  else describe.skip(`ClickHouse: ${missing}`, () => it('is asked nothing', () => undefined));
}

/** One suite on the real engine; skipped, and said why, where it cannot run. */
export function describeOnEngine(title: string, suite: () => void): void {
  const missing = engineMissing();
  if (missing === undefined) describe(title, suite);
  else describe.skip(`${title}: ${missing}`, suite);
}
