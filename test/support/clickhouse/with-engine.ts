import { describe, it } from '@jest/globals';
import { engineMissing } from './engine.ts';

/** Suites on the real engine; one skipped line where it cannot run. */
export function withEngine(suites: () => void): void {
  const missing = engineMissing();
  if (missing === undefined) suites();
  else describe.skip(`ClickHouse: ${missing}`, () => it('is asked nothing', () => undefined));
}
