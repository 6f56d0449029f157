import { tableNames } from '../../../src/contract/telemetry/index.ts';
import { ownRows } from '../isolation-rows.ts';
import type { Runner } from '../runner.ts';
import { ask, writeRows, type WarehouseUnderTest } from './warehouse.ts';

export interface LegitimateStatement {
  readonly sql: string;
  /** How many the result has. */
  readonly columns: number;
}

/** What people and models ask of telemetry: at least 60 statements that must run. An over-strict gate is a defect. */
export function legitimateContract(
  { describe, it, expect, beforeAll, afterAll }: Runner,
  make: () => Promise<WarehouseUnderTest>,
  statements: readonly LegitimateStatement[],
): void {
  describe('legitimate statements', () => {
    let subject: WarehouseUnderTest;
    const now = new Date();
    const window = { start: new Date(now.getTime() - 86_400_000) };

    beforeAll(async () => {
      subject = await make();
      await subject.component.start(AbortSignal.timeout(20_000));
      for (const table of tableNames) await writeRows(subject, subject.organizations[0], table, ownRows(now));
    });
    afterAll(async () => {
      await subject.component.stop();
      await subject.cleanup();
    });

    it('are at least 60', () => {
      expect(new Set(statements.map(({ sql }) => sql)).size).toBeGreaterThanOrEqual(60);
    });

    it('run, each with its columns', async () => {
      const wrong: string[] = [];
      let withRows = 0;
      for (const { sql, columns } of statements) {
        try {
          const answer = await ask(subject.component, subject.organizations[0], sql, { window });
          if (answer.columns.length !== columns) wrong.push(`${sql} → ${answer.columns.length} columns`);
          if (answer.rows.length > 0) withRows += 1;
        } catch (error) {
          const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
          wrong.push(`${sql} → ${String(error)} ${cause}`);
        }
      }
      expect(wrong).toEqual([]);
      // Rows of the last minutes are there, so a warehouse that answers nothing but emptiness is not asked at all.
      expect(withRows).toBeGreaterThan(statements.length / 2);
    }, 300_000);
  });
}
