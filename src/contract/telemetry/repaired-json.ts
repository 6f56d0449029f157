import type { ColumnType } from './schema.ts';

/**
 * JSON text that any engine certainly reads into a column of the type: of the right shape, each key once, no lone
 * surrogates, no NUL. Lossy where it must be; for what the engine refused, or certainly would.
 */
export function repairedJson(text: string, type: ColumnType): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  switch (type) {
    case 'map':
      return JSON.stringify(stringMap(value));
    case 'int64[]':
      return JSON.stringify(list(value).map((item) => integer(item)));
    case 'float64[]':
      return JSON.stringify(list(value).map((item) => float(item)));
    case 'events':
      return JSON.stringify(
        list(value).map((item) => {
          const { time, name, attributes } = record(item);
          return { time: moment(time), name: clean(name), attributes: stringMap(attributes) };
        }),
      );
    case 'exemplars':
      return JSON.stringify(
        list(value).map((item) => {
          const { time, value: measured, trace_id, span_id, filtered_attributes } = record(item);
          return {
            time: moment(time),
            value: float(measured),
            trace_id: clean(trace_id),
            span_id: clean(span_id),
            filtered_attributes: stringMap(filtered_attributes),
          };
        }),
      );
    case 'links':
      return JSON.stringify(
        list(value).map((item) => {
          const { attributes, ...link } = record(item);
          const [trace_id, span_id, trace_state] = ['trace_id', 'span_id', 'trace_state'].map((name) =>
            clean(link[name]),
          );
          return { trace_id, span_id, trace_state, attributes: stringMap(attributes) };
        }),
      );
    case 'quantiles':
      return JSON.stringify(
        list(value).map((item) => {
          const entry = record(item);
          return { quantile: float(entry['quantile']), value: float(entry['value']) };
        }),
      );
    default:
      return clean(text);
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function stringMap(value: unknown): Record<string, string> {
  // Without a prototype, so that no key means anything but itself.
  const map: Record<string, string> = Object.create(null);
  for (const [key, item] of Object.entries(record(value))) map[clean(key)] = clean(item);
  return map;
}

function moment(value: unknown): string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : '1970-01-01T00:00:00Z';
}

function clean(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  return text.toWellFormed().replaceAll('\0', '�');
}

function integer(value: unknown): string {
  const text = String(value);
  return /^-?\d{1,18}$/.test(text) ? text : '0';
}

function float(value: unknown): number | string {
  const number = Number(value);
  if (Number.isFinite(number)) return number;
  return Number.isNaN(number) ? 'NaN' : number > 0 ? 'Infinity' : '-Infinity';
}
