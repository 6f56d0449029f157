import { z } from 'zod';
import { fieldSchema, type FieldSchema } from './jobs.ts';
import {
  cutCell,
  fitsCell,
  floatCell,
  type CellBudget,
  type PhysicalColumns,
} from '../../src/contract/telemetry/index.ts';
import { ApiFailure, type Api } from './api.ts';

const tableAnswer = z.object({
  schema: z.object({ fields: z.array(fieldSchema).default([]) }).default({ fields: [] }),
  timePartitioning: z.object({ field: z.string().optional() }).optional(),
});

/**
 * Columns of a table or view by its path, `dataset.table` or `project.dataset.table`; fields of a record also as
 * `record.column`. A table partitioned by ingestion time has `_PARTITIONTIME`.
 */
export function physicalColumns(api: Api, signal: AbortSignal): PhysicalColumns {
  return async (path) => {
    const parts = /^(?:([^`/\s]+)\.)?([A-Za-z0-9_]+)\.([^`/.]+)$/.exec(path);
    if (parts === null) return undefined;
    const [, project = api.projectId, dataset = '', table = ''] = parts;
    const uri = `/datasets/${dataset}/tables/${encodeURIComponent(table)}`;
    try {
      const answer = await api.send({ method: 'GET', project, path: uri, retry: true }, signal);
      const { schema, timePartitioning } = tableAnswer.parse(answer);
      const columns = new Map(flattened(schema.fields, ''));
      if (timePartitioning !== undefined && timePartitioning.field === undefined) {
        columns.set('_PARTITIONTIME', 'TIMESTAMP');
      }
      return columns;
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 404) return undefined;
      throw error;
    }
  };
}

function flattened(fields: readonly FieldSchema[], prefix: string): readonly (readonly [string, string])[] {
  return fields.flatMap((field) => [
    [`${prefix}${field.name}`, typeName(field)] as const,
    ...flattened(field.fields ?? [], `${prefix}${field.name}.`),
  ]);
}

/** GoogleSQL's names, where the interface still has the old ones. */
const typeNames: Readonly<Record<string, string>> = {
  INTEGER: 'INT64',
  FLOAT: 'FLOAT64',
  BOOLEAN: 'BOOL',
};

/** As GoogleSQL writes the type: `ARRAY<STRUCT<name STRING, attributes JSON>>`. */
export function typeName({ type, mode, fields = [] }: FieldSchema): string {
  const plain =
    type === 'RECORD' || type === 'STRUCT'
      ? `STRUCT<${fields.map((field) => `${field.name} ${typeName(field)}`).join(', ')}>`
      : (typeNames[type] ?? type);
  return mode === 'REPEATED' ? `ARRAY<${plain}>` : plain;
}

export function cellText(field: FieldSchema, value: unknown, budget: CellBudget): string {
  const json = valueText(field, value);
  if (fitsCell(json, budget)) return json;
  return cutCell(typeof value === 'string' && field.type === 'STRING' ? value : json, budget);
}

function valueText(field: FieldSchema, value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (field.mode === 'REPEATED') {
    const { mode: _, ...element } = field;
    return `[${listOf(value)
      .map((item) => valueText(element, member(item, 'v')))
      .join(',')}]`;
  }
  switch (field.type) {
    case 'RECORD':
    case 'STRUCT': {
      const cells = listOf(member(value, 'f'));
      const entries = (field.fields ?? []).map(
        (inner, at) => `${JSON.stringify(inner.name)}:${valueText(inner, member(cells[at], 'v'))}`,
      );
      return `{${entries.join(',')}}`;
    }
    default:
      // Every scalar comes as text.
      return scalarText(field.type, typeof value === 'string' ? value : JSON.stringify(value));
  }
}

function scalarText(type: string, text: string): string {
  switch (type) {
    case 'BOOLEAN':
    case 'BOOL':
      return text === 'true' ? 'true' : 'false';
    case 'FLOAT':
    case 'FLOAT64':
      // `inf`, `-inf` and `nan` it writes in words.
      return floatCell(/inf/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text));
    case 'TIMESTAMP':
      return `"${timestampText(text)}"`;
    case 'BYTES':
      return `"${Buffer.from(text, 'base64').toString('hex')}"`;
    case 'JSON':
      return jsonText(text);
    default:
      // Integers and decimals stay text; so do dates, times of day, intervals, ranges and geographies.
      return JSON.stringify(text);
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function member(value: unknown, key: 'f' | 'v'): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** What is JSON stays as it came, with every digit of its numbers. */
function jsonText(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

/** RFC 3339 in UTC of microseconds since the epoch. */
function timestampText(text: string): string {
  if (!/^-?\d+$/.test(text)) return JSON.stringify(text).slice(1, -1);
  const micros = BigInt(text);
  const remainder = micros % 1_000_000n;
  const fraction = remainder < 0n ? remainder + 1_000_000n : remainder;
  const milliseconds = Number((micros - fraction) / 1_000n);
  if (Math.abs(milliseconds) > 8.64e15) return text;
  const whole = new Date(milliseconds).toISOString().slice(0, -5);
  if (fraction === 0n) return `${whole}Z`;
  const digits = fraction.toString().padStart(6, '0');
  return `${whole}.${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`;
}
