import { isUtf8 } from 'node:buffer';

/*
 * Converts cells of the server's text format to JSON, bytes to bytes. Each function writes at `at`, where the caller has made
 * room, and returns the end, or -1 for a cell that it cannot convert.
 */

const [quote, backslash, dot, minus, plus, zero, nine, space] = [0x22, 0x5c, 0x2e, 0x2d, 0x2b, 0x30, 0x39, 0x20];

/** By byte: 0 needs no escape in a JSON string, 1 is part of UTF-8; else the character after the backslash, `u` for \u00…. */
const escapes = new Uint8Array(256);
escapes.fill('u'.charCodeAt(0), 0, 0x20);
escapes.fill(1, 0x80);
for (const [char, escape] of ['""', '\\\\', '\bb', '\tt', '\nn', '\ff', '\rr']) {
  escapes[char?.charCodeAt(0) ?? 0] = escape?.charCodeAt(0) ?? 0;
}
const unicode = 'u'.charCodeAt(0);
const hexDigits = Buffer.from('0123456789abcdef');

/** One escaped byte is at most `\u001f`. */
export const mostEscaped = 6;

/** Copying is a call; of few bytes it takes longer than they do. */
const fewBytes = 96;

/** Text of plain ASCII. Room: its length and two. */
export function plainText(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  let next = at;
  to[next] = quote;
  next += 1;
  for (let index = start; index < end; index += 1) {
    const byte = from[index] ?? 0;
    if (escapes[byte] !== 0) return -1;
    to[next] = byte;
    next += 1;
  }
  to[next] = quote;
  return next + 1;
}

/** Text of any kind, unless it is not UTF-8. Room: `mostEscaped` times its length, and two. */
export function anyText(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  let next = at;
  let wide = false;
  to[next] = quote;
  next += 1;
  for (let index = start; index < end; index += 1) {
    const byte = from[index] ?? 0;
    const escape = escapes[byte] ?? 0;
    if (escape <= 1) {
      if (escape === 1) wide = true;
      to[next] = byte;
      next += 1;
      continue;
    }
    to[next] = backslash;
    to[next + 1] = escape;
    next += 2;
    if (escape !== unicode) continue;
    to[next] = zero;
    to[next + 1] = zero;
    to[next + 2] = hexDigits[byte >> 4] ?? 0;
    to[next + 3] = hexDigits[byte & 15] ?? 0;
    next += 4;
  }
  if (wide && !isUtf8(from.subarray(start, end))) return -1;
  to[next] = quote;
  return next + 1;
}

/** What is JSON as it is, unless it is not UTF-8. Room: its length. */
export function verbatim(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  if (end - start <= fewBytes) {
    let next = at;
    let seen = 0;
    for (let index = start; index < end; index += 1) {
      const byte = from[index] ?? 0;
      seen |= byte;
      to[next] = byte;
      next += 1;
    }
    if (seen < 0x80) return next;
    return isUtf8(from.subarray(start, end)) ? next : -1;
  }
  const bytes = from.subarray(start, end);
  if (!isUtf8(bytes)) return -1;
  to.set(bytes, at);
  return at + bytes.length;
}

/** A number of JSON, and not NaN, an infinity or -0. Room: its length. */
export function float(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  const first = from[start] ?? 0;
  const digit = first === minus ? (from[start + 1] ?? 0) : first;
  if (digit < zero || digit > nine || (first === minus && digit === zero && end - start === 2)) return -1;
  return verbatim(from, start, end, to, at);
}

const shape = Buffer.from('0000-00-00 00:00:00');

/**
 * `2026-03-01 12:00:00.12+00` by RFC 3339, its fraction in as many groups of three digits as it needs, unless that cannot
 * write it: infinity, years of five digits, BC. Room: its length and six.
 */
export function time(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  if (end - start < shape.length) return -1;
  let next = at;
  to[next] = quote;
  next += 1;
  for (let index = 0; index < shape.length; index += 1) {
    const byte = from[start + index] ?? 0;
    const wanted = shape[index] ?? 0;
    if (wanted === zero ? byte < zero || byte > nine : byte !== wanted) return -1;
    to[next] = wanted === space ? 0x54 : byte;
    next += 1;
  }
  let index = start + shape.length;
  if (index < end && from[index] === dot) {
    to[next] = dot;
    next += 1;
    index += 1;
    const fraction = index;
    for (; index < end && index - fraction <= 6; index += 1) {
      const byte = from[index] ?? 0;
      if (byte < zero || byte > nine) break;
      to[next] = byte;
      next += 1;
    }
    const digits = index - fraction;
    if (digits === 0 || digits > 6) return -1;
    for (let left = digits > 3 ? 6 - digits : 3 - digits; left > 0; left -= 1) {
      to[next] = zero;
      next += 1;
    }
  }
  const utc = end - index === 3 && from[index] === plus && from[index + 1] === zero && from[index + 2] === zero;
  if (index !== end && !utc) return -1;
  // What has no zone is given none.
  if (utc) {
    to[next] = 0x5a;
    next += 1;
  }
  to[next] = quote;
  return next + 1;
}
