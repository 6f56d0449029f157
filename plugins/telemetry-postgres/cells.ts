import { cutCell, fitsCell, type CellBudget } from '../../src/contract/telemetry/index.ts';
import type { PostgresType } from './types.ts';

/** A value in the server's text format as JSON text. */
export type CellWriter = (value: string | null) => string;

/** The writer for a column: what is short goes without counting its bytes. */
export function cellWriter(type: PostgresType, budget: CellBudget): CellWriter {
  const json = jsonWriter(type);
  return (value) => {
    if (value === null) return 'null';
    // Of a text so long that its start fills the cell, no more is made JSON of than that.
    if (value.length > budget.maxBytes) return cutCell(value, budget);
    const text = json(value);
    return fitsCell(text, budget) ? text : cutCell(value, budget);
  };
}

function jsonWriter({ kind, element }: PostgresType): (value: string) => string {
  if (element !== undefined) {
    const write = jsonWriter(element);
    return (value) => arrayText(value, write);
  }
  switch (kind) {
    case 'number':
      return (value) => value;
    case 'float':
      return floatText;
    case 'boolean':
      return (value) => (value === 't' ? 'true' : 'false');
    case 'json':
      return (value) => value;
    case 'time':
      return (value) => textJson(rfc3339(value));
    case 'bytes':
      return (value) => JSON.stringify(value.startsWith('\\x') ? value.slice(2) : value);
    case 'text':
      return textJson;
  }
}

/** Printable ASCII without quotes and backslashes, nearly all text, needs no escape: twice as fast. */
const escapes = /[^ !#-[\]-~]/;

function textJson(value: string): string {
  return escapes.test(value) ? JSON.stringify(value) : `"${value}"`;
}

function floatText(value: string): string {
  if (value === '-0') return '0';
  return /^-?\d/.test(value) ? value : JSON.stringify(value);
}

/**
 * `2026-03-01 12:00:00.12+00` with the fraction in as many groups of three digits as it needs. Infinity and years that
 * RFC 3339 cannot write stay what they are. Only a time with a zone gets one, which is UTC in every session.
 */
export function rfc3339(value: string): string {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(\+00)?$/.exec(value);
  if (parts === null) return value;
  const [, date, time, fraction = '', zone] = parts;
  const digits = fraction.length === 0 ? '' : `.${fraction.padEnd(fraction.length > 3 ? 6 : 3, '0')}`;
  return `${date}T${time}${digits}${zone === undefined ? '' : 'Z'}`;
}

/** `{1,NULL,"a b",{2}}` as a JSON array. Bounds before it, `[0:1]={…}`, are left out. */
function arrayText(value: string, write: (element: string) => string): string {
  let json = '';
  let at = value.indexOf('{');
  for (; at < value.length; at += 1) {
    const char = value[at];
    if (char === '{') json += '[';
    else if (char === '}') json += ']';
    else if (char === ',') json += ',';
    else if (char === '"') {
      let text = '';
      for (at += 1; value[at] !== '"' && at < value.length; at += 1) {
        if (value[at] === '\\') at += 1;
        text += value[at] ?? '';
      }
      json += write(text);
    } else {
      const start = at;
      while (at < value.length && value[at] !== ',' && value[at] !== '}') at += 1;
      const text = value.slice(start, at);
      at -= 1;
      json += text === 'NULL' ? 'null' : write(text);
    }
  }
  return json;
}
