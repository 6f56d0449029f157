import { SightlineError } from '../../../src/contract/core/index.ts';
import type { InspectedPreset } from '../../../src/contract/telemetry/index.ts';
import { foundQuestions, plainRows } from './questions.ts';

/** All of it, so that bounds of sort keys and partitions are written too. */
export const window = { start: new Date('2026-02-28T00:00:00Z'), end: new Date('2026-03-06T00:00:00Z') };

export interface Outcomes {
  readonly right: number;
  /** Wrong or refused, and `inspect` said of what they need that it is to be mapped by hand, or missing. */
  readonly told: readonly string[];
  /** Wrong without a word. */
  readonly wrong: readonly string[];
}

export async function outcomesOf(
  engine: 'clickhouse' | 'postgres',
  inspected: InspectedPreset | undefined,
  ask: (sql: string) => Promise<readonly (readonly unknown[])[]>,
): Promise<Outcomes> {
  const said = new Set([
    ...(inspected?.missing ?? []).map(({ what }) => what),
    ...(inspected?.notes ?? []).filter(({ mend }) => mend === undefined).map(({ what }) => what),
  ]);
  const tells = (column: string) => said.has(`otel.${column}`) || said.has(`otel.${column.split('.')[0] ?? ''}`);
  const told: string[] = [];
  const wrong: string[] = [];
  for (const { asks, needs, answer, [engine]: sql } of foundQuestions) {
    const rows = await ask(sql).catch((error: unknown) =>
      String(error instanceof SightlineError ? (error.operatorMessage ?? error.message) : error),
    );
    const isRight = typeof rows !== 'string' && JSON.stringify(plainRows(rows)) === JSON.stringify(plainRows(answer));
    if (isRight) continue;
    if (needs.some(tells)) told.push(asks);
    else
      wrong.push(
        `${asks}: ${typeof rows === 'string' ? rows : JSON.stringify(plainRows(rows).slice(0, 3))} not ${JSON.stringify(plainRows(answer).slice(0, 3))}`,
      );
  }
  return { right: foundQuestions.length - told.length - wrong.length, told, wrong };
}
