import { isObject, type JsonObject } from '../contract/core/index.ts';
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { RequestFailure, rpcCode } from './protocol.ts';

const prefix = '=?base64?';
const suffix = '?=';
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** One argument that its schema mirrors into a request header by `x-mcp-header`. */
export interface ParamHeader {
  readonly path: readonly string[];
  /** As the schema writes it, e.g. `Region` for `Mcp-Param-Region`. */
  readonly name: string;
  readonly numeric: boolean;
}

const annotation = 'x-mcp-header';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const decimal = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The annotated arguments of an input schema. Throws where an annotation breaks the rules of 2026-07-28. */
export function paramHeaders(schema: JsonObject): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  collect(schema, [], found);
  const annotated = JSON.stringify(schema).split(`"${annotation}":`).length - 1;
  if (annotated !== found.length) throw new Error(`${annotation} may stand on plain properties only`);
  if (new Set(found.map(({ name }) => name.toLowerCase())).size !== found.length) {
    throw new Error(`two arguments share one ${annotation}`);
  }
  return found;
}

function collect(schema: JsonObject, path: readonly string[], into: ParamHeader[]): void {
  const { properties } = schema;
  if (!isObject(properties)) return;
  for (const [key, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const name = property[annotation];
    const { type } = property;
    if (name !== undefined) {
      if (typeof name !== 'string' || !token.test(name))
        throw new Error(`${key}: ${annotation} must be a header token`);
      if (type !== 'string' && type !== 'integer' && type !== 'number' && type !== 'boolean') {
        throw new Error(`${key}: ${annotation} may stand on a string, number or boolean only`);
      }
      into.push({ path: [...path, key], name, numeric: type === 'integer' || type === 'number' });
    }
    collect(property, [...path, key], into);
  }
}

/** Throws -32020 unless every mirrored argument is in its header with the same value, and none is there without an argument. */
export function checkParamHeaders(
  declared: readonly ParamHeader[],
  args: JsonObject,
  headers: IncomingHttpHeaders,
): void {
  for (const { path, name, numeric } of declared) {
    const header = headers[`mcp-param-${name.toLowerCase()}`];
    const value = valueAt(args, path);
    if (value === undefined || value === null) {
      if (header !== undefined) throw headerMismatch(`Mcp-Param-${name} is set but ${path.join('.')} is not.`);
      continue;
    }
    // Whatever else stands there fails the argument's own schema.
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    if (typeof header !== 'string') throw headerMismatch(`The Mcp-Param-${name} header is missing.`);
    const decoded = decodeHeader(header.trim());
    if (decoded === undefined) throw headerMismatch(`Mcp-Param-${name} is not valid Base64.`);
    const same =
      decoded === String(value) ||
      (numeric && typeof value === 'number' && decimal.test(decoded) && Number(decoded) === value);
    if (!same) throw headerMismatch(`Mcp-Param-${name} differs from ${path.join('.')}.`);
  }
}

function valueAt(args: JsonObject, path: readonly string[]): unknown {
  let value: unknown = args;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** The text in an `Mcp-Name` or `Mcp-Param-*` header (2026-07-28, "Value encoding"); undefined when its Base64 is broken. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(prefix) || !value.endsWith(suffix) || value.length < prefix.length + suffix.length)
    return value;
  const encoded = value.slice(prefix.length, -suffix.length);
  if (!canonicalBase64.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

export function headerMismatch(message: string): RequestFailure {
  return new RequestFailure(400, rpcCode.headerMismatch, message);
}
