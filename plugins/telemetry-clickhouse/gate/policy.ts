import type { GatePolicy } from '../../../src/contract/telemetry/index.ts';
import { aggregateFunctions } from './aggregates.ts';
import { functionHints } from './function-hints.ts';
import { scalarFunctions } from './functions.ts';

/** Of casts. Missing: states of aggregations, which a caller could forge, and types that hold any other. */
const types = `array bfloat16 bigint bool boolean char date date32 datetime datetime32 datetime64 decimal decimal32 decimal64
  decimal128 decimal256 double fixedstring float float32 float64 int int8 int16 int32 int64 int128 int256 integer
  intervalday intervalhour intervalmicrosecond intervalmillisecond intervalminute intervalmonth intervalnanosecond
  intervalquarter intervalsecond intervalweek intervalyear ipv4 ipv6 json lowcardinality map nullable numeric real
  signed smallint string text time time64 timestamp tinyint tuple uint8 uint16 uint32 uint64 uint128 uint256 unsigned
  uuid varchar`;

/** What ClickHouse lets through here. */
export const policy: GatePolicy = {
  dialect: 'clickhouse',
  title: 'ClickHouse',
  functions: new Set([...scalarFunctions, ...aggregateFunctions]),
  functionNamesAreCaseSensitive: true,
  functionHints,
  types: new Set(types.split(/\s+/)),
  tableFunctions: new Set(['numbers', 'generate_series', 'generateSeries', 'zeros']),
};
