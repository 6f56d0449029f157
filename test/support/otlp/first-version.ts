import { crc32, gunzipSync } from 'node:zlib';
import { tableNames, type TableName } from '../../../src/contract/telemetry/index.ts';

/*
 * What the first version wrote, as it wrote it: the tables of a file of the embedded engine, and a batch of each kind in the
 * ingest log. Never to be changed: data directories hold the like.
 */

export const firstTables: readonly string[] = [
  `CREATE SCHEMA IF NOT EXISTS otel`,
  `CREATE SCHEMA IF NOT EXISTS sightline`,
  `CREATE TABLE IF NOT EXISTS sightline.positions (log VARCHAR NOT NULL, segment BIGINT NOT NULL, "offset" BIGINT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS otel.spans ("time" TIMESTAMP, "start_time" TIMESTAMP, "end_time" TIMESTAMP, "duration_nano" BIGINT, "trace_id" VARCHAR, "span_id" VARCHAR, "parent_span_id" VARCHAR, "trace_state" VARCHAR, "flags" BIGINT, "name" VARCHAR, "kind" VARCHAR, "status_code" VARCHAR, "status_message" VARCHAR, "service_name" VARCHAR, "service_version" VARCHAR, "deployment_environment" VARCHAR, "attributes" MAP(VARCHAR, VARCHAR), "resource_attributes" MAP(VARCHAR, VARCHAR), "scope_name" VARCHAR, "scope_version" VARCHAR, "events" STRUCT("time" TIMESTAMP, "name" VARCHAR, attributes MAP(VARCHAR, VARCHAR))[], "links" STRUCT(trace_id VARCHAR, span_id VARCHAR, trace_state VARCHAR, attributes MAP(VARCHAR, VARCHAR))[])`,
  `CREATE TABLE IF NOT EXISTS otel.metrics ("time" TIMESTAMP, "start_time" TIMESTAMP, "name" VARCHAR, "type" VARCHAR, "unit" VARCHAR, "description" VARCHAR, "aggregation_temporality" VARCHAR, "is_monotonic" BOOLEAN, "value" DOUBLE, "count" BIGINT, "sum" DOUBLE, "min" DOUBLE, "max" DOUBLE, "bucket_counts" BIGINT[], "explicit_bounds" DOUBLE[], "scale" BIGINT, "zero_count" BIGINT, "positive_offset" BIGINT, "positive_bucket_counts" BIGINT[], "negative_offset" BIGINT, "negative_bucket_counts" BIGINT[], "quantile_values" STRUCT(quantile DOUBLE, "value" DOUBLE)[], "service_name" VARCHAR, "service_version" VARCHAR, "deployment_environment" VARCHAR, "attributes" MAP(VARCHAR, VARCHAR), "resource_attributes" MAP(VARCHAR, VARCHAR), "scope_name" VARCHAR, "scope_version" VARCHAR, "flags" BIGINT)`,
  `CREATE TABLE IF NOT EXISTS otel.logs ("time" TIMESTAMP, "observed_time" TIMESTAMP, "severity_number" BIGINT, "severity_text" VARCHAR, "body" VARCHAR, "event_name" VARCHAR, "trace_id" VARCHAR, "span_id" VARCHAR, "flags" BIGINT, "service_name" VARCHAR, "service_version" VARCHAR, "deployment_environment" VARCHAR, "attributes" MAP(VARCHAR, VARCHAR), "resource_attributes" MAP(VARCHAR, VARCHAR), "scope_name" VARCHAR, "scope_version" VARCHAR)`,
];

const recorded: Readonly<Record<TableName, string>> = {
  spans: `H4sIAAAAAAAAA71STUvDQBDdpklBFBQFew1zTstuDh72VFojFESE1osiuklXDGhbkugl5OrZ/+K/8Ed49j94kc2Xk2CCoDgDYebtmzdvILPjMX
    vWCSH7hGhEhU4qsfP68XLd+zH+vpfhnRo+Gm9n6pqW7hmhNxP1wv1dFvomtop6ymppV7OYbwq9q5HON3j93pKf620hrIf6cC2WJku/NtbfRHxV
    n53MTp3J9GjqHFZ8GIhnZDxn3uKzwLFbVYe3q3XbfU24kd+3i7AN1McggIMLSVnkc7leH831U34og0ffk8OluJfAQRmDpNzfRXxV3/luxR/2qG
    pW8/mE3ieov4gh8tOFNrUPBowNbDpnNqeUUzqkaZyDBbkrCRaIKAp89yGSIfA4SS7/QOLL5xvyuUK9WhIIT175C+DgLdoTLFC/VkaWN9UEK5cK
    IxEpRw03/eM6Qj4BKsatVJAEAAA=`,
  metrics: `H4sIAAAAAAAAAwv2cTK8wczAwCjHwMDEAAIsDChA4NTvzQlsDAwMrAz4AAsTE1g/L5IYKxI/J7UsNacotbA0tbikGEk9B5p6GD89sTQ9tbg0l4
    WZiYERm324xKHmcqGJw/jJpbmlOYklmWWpED4zuiFQPhNWX8o4QGglB0YC4cFEY3lWqP+R3QliR8cSJ0/I/ZTKU2o/pf6DpQ/k1AxiF2fkFzDg
    Sz84xFmh6QrZPGR+dW11LbK7xJHUgdjVSsWpRWWZyal6eYm5qUpWSiCHKNXC7WNGUg9i52QmobgH2U0gtiGcjZZfoQAAK1RVbdgDAAA=`,
  logs: `H4sIAAAAAAAAAwv2cTK8wcjAwCTAwMDIgAUInPq9OYENpzi6Hk4ozcLEhNU8mDgrkhiInZGak5NPhD5ixbH6BUk9C7IYAwNDcUZ+ATn2sELFOZ
    HEQOxqpUQlK6UkpVo0deJI6sTB6opTi8oyk1P18hJzU5WslEAOUaqF28eMpB7EzslMQnEPsptAbEMoGwCa4Lrv2AEAAA==`,
};

/** Two spans, a gauge of 7 and a sum of 9, and a log record, all of 2026-11-20T12:00:00Z and the service shop. */
export function firstFrame(table: TableName): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gunzipSync(Buffer.from(recorded[table], 'base64')));
}

/** A request's batches as records of the ingest log, in segments with only a number for a name. */
export function firstRecords(
  batches: readonly { readonly table: TableName; readonly rows: number; readonly frame: Uint8Array }[],
): Buffer {
  const records = batches.flatMap(({ table, rows, frame }, index) => {
    const header = Buffer.alloc(24);
    header.write('SLR1', 'latin1');
    header.writeUInt32LE(frame.length, 8);
    header.writeUInt32LE(rows, 12);
    header.writeUInt32LE(frame.length, 16);
    header[20] = tableNames.indexOf(table);
    header[21] = index === batches.length - 1 ? 1 : 0;
    header.writeUInt32LE(crc32(frame, crc32(header.subarray(8))), 4);
    return [header, frame];
  });
  return Buffer.concat(records);
}
