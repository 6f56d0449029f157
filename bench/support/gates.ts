import { legitimate as bigquery } from '../../plugins/telemetry-bigquery/support/legitimate.ts';
import { policy as bigqueryPolicy } from '../../plugins/telemetry-bigquery/gate/policy.ts';
import { legitimate as clickhouse } from '../../plugins/telemetry-clickhouse/support/legitimate.ts';
import { policy as clickhousePolicy } from '../../plugins/telemetry-clickhouse/gate/policy.ts';
import { Harness, newOrganization } from '../../plugins/telemetry-duckdb/support/harness.ts';
import { legitimate as duckdb } from '../../plugins/telemetry-duckdb/support/legitimate.ts';
import { openGate } from '../../plugins/telemetry-postgres/gate/index.ts';
import { legitimate as postgres } from '../../plugins/telemetry-postgres/support/legitimate.ts';
import type { GatePolicy, TableName, TimeReach } from '../../src/contract/telemetry/index.ts';
import { sqlGates } from '../../src/telemetry/gate/index.ts';
import { sqlHelpers } from '../../src/telemetry/query/helpers.ts';

/** A statement that a gate let through. */
export class Admitted {
  readonly tables: readonly TableName[];
  readonly reaches: readonly TimeReach[];
  /** What is sent to the warehouse. */
  readonly write: () => string | Promise<string>;

  constructor(
    { tables, reaches }: { readonly tables: readonly TableName[]; readonly reaches: readonly TimeReach[] },
    write: () => string | Promise<string>,
  ) {
    this.tables = tables;
    this.reaches = reaches;
    this.write = write;
  }
}

/** One dialect's gate. */
export interface GateUnderTest {
  readonly dialect: string;
  /** Median of a statement that was never seen, ms. */
  readonly barMs: number;
  readonly statements: readonly string[];
  /** Parses and checks. */
  readonly admit: (sql: string) => Promise<Admitted>;
  readonly close: () => Promise<void>;
}

const signal = new AbortController().signal;
const relation = (table: TableName) => `(SELECT * FROM warehouse.${table} WHERE organization = 'org')`;
const nothing = async () => {};

/** With its engine, which parses and writes: both ways to it count. */
async function duckdbGate(): Promise<GateUnderTest> {
  const harness = await Harness.start();
  const { telemetry } = harness;
  const context = { organizationId: newOrganization(), signal };
  const binding = { window: { start: new Date(Date.now() - 86_400_000) } };
  return {
    dialect: 'duckdb',
    barMs: 1,
    statements: duckdb.map(({ sql }) => sql),
    async admit(sql) {
      const checked = telemetry.check(await telemetry.parse(sql, context));
      return new Admitted(checked, () => telemetry.render(checked, binding, context));
    },
    close: () => harness.stop(),
  };
}

async function postgresGate(): Promise<GateUnderTest> {
  const gate = await openGate(sqlHelpers);
  return {
    dialect: 'postgres',
    barMs: 1,
    statements: postgres.map(({ sql }) => sql),
    async admit(sql) {
      const checked = gate.check(await gate.parse(sql));
      return new Admitted(checked, () => gate.template(checked).write(relation));
    },
    close: nothing,
  };
}

async function sharedGate(policy: GatePolicy, statements: readonly { readonly sql: string }[]): Promise<GateUnderTest> {
  const gate = await sqlGates.open(policy, sqlHelpers);
  return {
    dialect: policy.dialect,
    barMs: 5,
    statements: statements.map(({ sql }) => sql),
    async admit(sql) {
      const gated = await gate.admit(sql, signal);
      return new Admitted(gated, () => gated.write(relation));
    },
    close: nothing,
  };
}

export const gates: readonly (() => Promise<GateUnderTest>)[] = [
  duckdbGate,
  postgresGate,
  () => sharedGate(clickhousePolicy, clickhouse),
  () => sharedGate(bigqueryPolicy, bigquery),
];
