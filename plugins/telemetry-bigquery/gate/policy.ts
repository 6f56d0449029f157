import type { GatePolicy } from '../../../src/contract/telemetry/index.ts';
import { functionHints, functions } from './functions.ts';

/** Of casts. */
const types: ReadonlySet<string> = new Set([
  'string',
  'bytes',
  'int64',
  'int',
  'integer',
  'bigint',
  'smallint',
  'tinyint',
  'byteint',
  'float64',
  'numeric',
  'decimal',
  'bignumeric',
  'bigdecimal',
  'bool',
  'boolean',
  'timestamp',
  'date',
  'datetime',
  'time',
  'interval',
  'json',
  'array',
  'struct',
  'range',
]);

/** What GoogleSQL lets through here. */
export const policy: GatePolicy = {
  dialect: 'bigquery',
  title: 'BigQuery',
  functions,
  functionNamesAreCaseSensitive: false,
  functionHints,
  types,
  tableFunctions: new Set(['unnest']),
};
