import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { otelTables, tableNames } from '../../contract/telemetry/index.ts';
import { sqlHelpers } from './helpers.ts';
import { snakeCase } from '../../contract/core/spelling.ts';
import { nearest } from './nearest.ts';

const columnsOf = (table: (typeof tableNames)[number]): string[] =>
  otelTables[table].columns.map((column) => column.name);

describe('nearest', () => {
  it.each([
    ['SpanName', 'name'],
    ['ServiceName', 'service_name'],
    ['SpanKind', 'kind'],
    ['StatusCode', 'status_code'],
    ['StatusMessage', 'status_message'],
    ['ParentSpanId', 'parent_span_id'],
    ['TraceId', 'trace_id'],
    ['Timestamp', 'time'],
    ['Duration', 'duration_nano'],
    ['duration_ms', 'duration_nano'],
    ['SpanAttributes', 'attributes'],
    ['ResourceAttributes', 'resource_attributes'],
    ['service', 'service_name'],
    ['servce_name', 'service_name'],
    ['sevrice_name', 'service_name'],
    ['traceid', 'trace_id'],
    ['status', 'status_code'],
    ['start_time_unix_nano', 'start_time'],
    ['scope', 'scope_name'],
  ])('%s is %s in spans', (wrong, right) => {
    expect(nearest(wrong, columnsOf('spans'))[0]).toBe(right);
  });

  it.each([
    ['Body', 'body'],
    ['message', 'body'],
    ['level', 'severity_text'],
    ['SeverityText', 'severity_text'],
    ['severity', 'severity_text'],
    ['LogAttributes', 'attributes'],
    ['timestamp', 'time'],
  ])('%s is %s in logs', (wrong, right) => {
    expect(nearest(wrong, columnsOf('logs'))[0]).toBe(right);
  });

  it.each([
    ['MetricName', 'name'],
    ['Value', 'value'],
    ['metric_type', 'type'],
  ])('%s is %s in metrics', (wrong, right) => {
    expect(nearest(wrong, columnsOf('metrics'))[0]).toBe(right);
  });

  it('offers nothing where nothing is near', () => {
    expect(nearest('xyzzy', columnsOf('spans'))).toEqual([]);
    expect(nearest('', columnsOf('spans'))).toEqual([]);
    expect(nearest('constructor', columnsOf('spans'))).toEqual([]);
    expect(nearest('__proto__', columnsOf('spans'))).toEqual([]);
  });

  it('puts an exact name in any spelling first, offers at most three candidates, each once', () => {
    const candidates = columnsOf('metrics');
    fc.assert(
      fc.property(fc.constantFrom(...candidates), fc.boolean(), (name, pascal) => {
        const written = pascal ? name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;
        const found = nearest(written, [...candidates, ...candidates]);
        expect(found[0]).toBe(name);
        expect(found.length).toBeLessThanOrEqual(3);
        expect(new Set(found).size).toBe(found.length);
      }),
    );
  });

  it('stays quick and quiet with any name', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 5000, maxLength: 6000 })), (name) => {
        for (const candidate of nearest(name, columnsOf('spans'))) expect(columnsOf('spans')).toContain(candidate);
        expect(snakeCase(name.slice(0, 64))).toBe(snakeCase(name.slice(0, 64)).toLowerCase());
      }),
    );
  });
});

describe('sqlHelpers', () => {
  it('names the three tables for an unknown one, and the likely one', () => {
    const error = sqlHelpers.unknownTable('"otel"."traces"', { position: 15, cause: 'engine text' });
    expect(error).toMatchObject({ code: 'unknown_table', position: 15, cause: 'engine text' });
    expect(error.hint).toBe('Did you mean otel.spans? The tables are otel.spans, otel.metrics, otel.logs.');
  });

  it('names the nearest columns and every column of the tables asked', () => {
    const error = sqlHelpers.unknownColumn('s.SpanName', ['spans']);
    expect(error.message).toBe('There is no column "s.SpanName".');
    expect(error.hint).toMatch(/^Did you mean name/);
    for (const column of columnsOf('spans')) expect(error.hint).toContain(column);
    expect(error.hint).not.toContain('otel.logs');
  });

  it('never suggests the name that was refused', () => {
    expect(sqlHelpers.unknownColumn('e.name', ['spans']).hint).not.toMatch(/Did you mean (?:\w+ or )*name\b/);
  });

  it('suggests functions of nearly the same letters alone', () => {
    const functions = ['count', 'multiply', 'nullif', 'json_group_array', 'count_if', 'date_trunc'];
    const hint = (name: string) => sqlHelpers.unknownFunction(name, functions).hint;
    for (const name of ['multiif', 'groupArray', 'rate']) expect(hint(name)).not.toContain('Did you mean');
    expect([hint('conut'), hint('dateTrunc')]).toEqual(['Did you mean count?', 'Did you mean date_trunc?']);
  });

  it('lists all tables when it is not known which one was meant', () => {
    const { hint } = sqlHelpers.unknownColumn('nope', []);
    for (const table of tableNames) expect(hint).toContain(`Columns of otel.${table}:`);
  });

  it('shows a caller its own name on one short line', () => {
    const { message } = sqlHelpers.unknownTable(`a\n\u0000\u202e${'b'.repeat(500)}`);
    expect(message.length).toBeLessThan(120);
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
