import { SightlineError } from '../../src/contract/core/index.ts';
import type { MappingConfig, Tenancy } from '../../src/contract/telemetry/index.ts';
import { openAccount } from './accounts.ts';
import type { Explaining } from './client/failures.ts';
import type { Warehouse } from './client/warehouse.ts';
import type { ClickHouseConfig } from './config.ts';
import { organizationColumn } from './setup/own-tables.ts';
import { ClickHouseSink } from './sink/sink.ts';

export interface OpenSink {
  readonly sink: ClickHouseSink;
  readonly account: Warehouse;
}

/** Where our receiver's rows go; undefined where telemetry reaches the warehouse by another way. */
export function openSink(config: ClickHouseConfig, tenancy: Tenancy, explaining: Explaining): OpenSink | undefined {
  const { ingest } = config;
  if (ingest?.enabled !== true) return undefined;
  const { boundary } = tenancy;
  if (boundary.mode !== 'none' && !(boundary.mode === 'column' && boundary.column === organizationColumn)) {
    throw new SightlineError('config_invalid', 'telemetry.ingest needs the boundary of its own tables.', {
      hint: `Set telemetry.tenancy.boundary to { mode: column, column: ${organizationColumn} }.`,
    });
  }
  const { username, password, database, prefix } = ingest;
  const account = openAccount(config, { username, password }, explaining);
  return { account, sink: new ClickHouseSink({ account, tenancy, database, prefix }) };
}

/** Our receiver's tables are those that are read, under the names that they have here. */
export function ownMapping({ mapping, ingest }: ClickHouseConfig): MappingConfig {
  if (ingest?.enabled !== true) return mapping;
  if (mapping.preset !== undefined && mapping.preset !== 'sightline') {
    throw new SightlineError('config_invalid', 'telemetry.ingest writes into tables of its own.', {
      hint: 'Set telemetry.mapping.preset to sightline, or leave telemetry.ingest out.',
    });
  }
  const { database, prefix } = ingest;
  const names = { database, spans: `${prefix}spans`, metrics: `${prefix}metrics`, logs: `${prefix}logs` };
  return { ...mapping, preset: 'sightline', names: { ...names, ...mapping.names } };
}
