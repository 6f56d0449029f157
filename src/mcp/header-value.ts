import { isUtf8 } from 'node:buffer';
import { RequestFailure } from './failure.ts';
import { rpcCode } from './protocol.ts';

const prefix = '=?base64?';
const suffix = '?=';
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

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
