import { dialect } from '../plugins/telemetry-duckdb/dialect.ts';
import { silentLogger } from '../test/contract/host.ts';
import { newId } from '../src/contract/core/index.ts';
import { type Cursor, type Telemetry } from '../src/contract/telemetry/index.ts';
import { createQueryPipeline } from '../src/telemetry/query/pipeline.ts';
import { Admitted, gates, type GateUnderTest } from './support/gates.ts';

/*
 * What the gate costs, over the statements that people and models send: parse, check and write of a statement never seen,
 * and the way through the pipeline up to the warehouse of one that was checked before.
 * Usage: node bench/gate.ts [rounds, 20]
 */

const rounds = Number(process.argv[2] ?? 20);
const warmUpRounds = 3;

const empty: Cursor = {
  columns: [],
  read: async () => undefined,
  end: { cutCells: 0 },
  close: async () => {},
};

/** The pipeline over a gate, before a warehouse that answers at once and notes when it was reached. */
function pipelineOver(gate: GateUnderTest, reached: () => void) {
  const telemetry: Telemetry = {
    dialect,
    start: async () => {},
    stop: async () => {},
    health: async () => ({ ok: true }),
    parse: async (sql) => ({ tree: await gate.admit(sql) }),
    check({ tree }) {
      if (!(tree instanceof Admitted)) throw new TypeError('a statement of another gate');
      return { tree, tables: tree.tables, reaches: tree.reaches };
    },
    async render({ tree }) {
      if (!(tree instanceof Admitted)) throw new TypeError('a statement of another gate');
      return tree.write();
    },
    async open() {
      reached();
      return empty;
    },
  };
  return createQueryPipeline({ telemetry, logger: silentLogger, now: () => new Date() });
}

async function measure(gate: GateUnderTest) {
  const unseen: number[][] = [];
  const seen: number[] = [];
  let reachedAt = 0;
  const pipeline = pipelineOver(gate, () => {
    reachedAt = performance.now();
  });
  const request = {
    organizationId: newId('org'),
    reader: 'agent',
    label: { principal: 'agent', tool: 'query_otel', traceId: '0' },
    signal: new AbortController().signal,
  } as const;
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const times: number[] = [];
    for (const statement of gate.statements) {
      // Another text each time, so that nothing that was kept of it answers.
      const sql = `${statement}\n-- ${round}`;
      const began = performance.now();
      await (await gate.admit(sql)).write();
      times.push(performance.now() - began);
      await pipeline.run({ ...request, sql: statement });
      const again = performance.now();
      await pipeline.run({ ...request, sql: statement });
      if (round >= 0) seen.push(reachedAt - again);
    }
    if (round >= 0) unseen.push(times);
  }
  const all = unseen.flat();
  return {
    dialect: gate.dialect,
    statements: gate.statements.length,
    'never seen, ms (median)': digits(quantile(all, 0.5)),
    p90: digits(quantile(all, 0.9)),
    'quietest round, ms (median)': digits(Math.min(...unseen.map((times) => quantile(times, 0.5)))),
    bar: gate.barMs,
    'checked before, ms (median)': digits(quantile(seen, 0.5)),
    'its p90': digits(quantile(seen, 0.9)),
  };
}

function quantile(values: readonly number[], fraction: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * fraction)] ?? Number.NaN;
}

function digits(ms: number): number {
  return Number(ms.toPrecision(2));
}

const results: object[] = [];
for (const open of gates) {
  const gate = await open();
  try {
    results.push(await measure(gate));
  } finally {
    await gate.close();
  }
}
console.table(results);
