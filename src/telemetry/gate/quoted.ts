import type { GatePolicy } from '../../contract/telemetry/index.ts';
import type { Faults } from './fault.ts';
import type { Grammar } from './grammar.ts';

interface Quoted {
  readonly kind: 'string' | 'quoted';
  readonly value: string;
  readonly end: number;
}

/** Escapes on which the engines agree with us. Others mean different things in different places. */
const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  a: '\u0007',
  v: '\u000b',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
};

/** The string or quoted name that begins here, decoded. */
export function readQuoted(sql: string, start: number, grammar: Grammar, faults: Faults): Quoted | undefined {
  const prefix = /^[rRbB]{1,2}(?=['"])/.exec(sql.slice(start, start + 3))?.[0] ?? '';
  if (prefix !== '' && /[bB]/.test(prefix) && grammar.rawAndTripleStrings) {
    throw faults.refuse('sql_refused', 'Bytes literals are not available.', start, 'Use FROM_HEX or FROM_BASE64.');
  }
  const isRaw = prefix !== '' && grammar.rawAndTripleStrings;
  const at = isRaw ? start + prefix.length : start;
  const quote = sql.charAt(at);
  if (quote !== "'" && quote !== '"' && quote !== '`') return undefined;
  const isName = quote === '`' || (quote === '"' && !grammar.doubleQuotedStrings);
  const isTriple = grammar.rawAndTripleStrings && !isName && sql.startsWith(quote.repeat(3), at);
  const close = isTriple ? quote.repeat(3) : quote;
  return read(sql, at + close.length, { start, close, isName, isRaw }, grammar, faults);
}

interface Opening {
  readonly start: number;
  readonly close: string;
  readonly isName: boolean;
  readonly isRaw: boolean;
}

function read(sql: string, from: number, opening: Opening, grammar: Grammar, faults: Faults): Quoted {
  const { start, close, isName, isRaw } = opening;
  let value = '';
  let at = from;
  for (;;) {
    const character = sql.charAt(at);
    if (character === '') throw faults.refuse('sql_syntax', 'A quote is not closed.', start, 'Close it.');
    if (character === '\0' || isLoneSurrogate(sql, at)) {
      throw faults.refuse('sql_syntax', 'Text holds a character that is none.', at, 'Leave it out.');
    }
    if (sql.startsWith(close, at)) {
      // 'it''s': dialects without triple quotes double a quote to write it.
      if (!grammar.rawAndTripleStrings && sql.charAt(at + 1) === close) {
        value += close;
        at += 2;
        continue;
      }
      return { kind: isName ? 'quoted' : 'string', value, end: at + close.length };
    }
    if (character === '\n' && close.length === 1 && grammar.rawAndTripleStrings) {
      throw faults.refuse('sql_syntax', 'A quote is not closed on its line.', start, 'Write \\n for a line break.');
    }
    if (character !== '\\') {
      value += character;
      at += 1;
      continue;
    }
    const escape = isRaw ? rawEscape(sql, at) : readEscape(sql, at, grammar);
    if (escape === undefined) {
      throw faults.refuse(
        'sql_syntax',
        'The backslash begins no escape that is known here.',
        at,
        'Write \\\\ for a backslash.',
      );
    }
    value += escape.value;
    at += escape.length;
  }
}

interface Escape {
  readonly value: string;
  readonly length: number;
}

/** In raw strings a backslash keeps what follows from closing them, and stays. */
function rawEscape(sql: string, at: number): Escape | undefined {
  const next = sql.charAt(at + 1);
  return next === '' ? undefined : { value: `\\${next}`, length: 2 };
}

function readEscape(sql: string, at: number, grammar: Grammar): Escape | undefined {
  const next = sql.charAt(at + 1);
  const known = Object.hasOwn(escapes, next) ? escapes[next] : undefined;
  if (known !== undefined) return { value: known, length: 2 };
  const code = grammar.rawAndTripleStrings
    ? /^\\(?:x([0-7][0-9A-Fa-f])|u([0-9A-Fa-f]{4}))/.exec(sql.slice(at, at + 6))
    : /^\\x([0-7][0-9A-Fa-f])/.exec(sql.slice(at, at + 4));
  if (code !== null) {
    const value = String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? '0', 16));
    return value === '\0' || /[\ud800-\udfff]/.test(value) ? undefined : { value, length: code[0].length };
  }
  // In ClickHouse a backslash before a sign that needs none stays: patterns are written '\d+' and '\.'.
  if (!grammar.rawAndTripleStrings && /[A-Za-z.%_*+?()[\]{}|^$\-,:;=&#@!~ <>]/.test(next) && !/[0eNxXuU]/.test(next)) {
    return { value: `\\${next}`, length: 2 };
  }
  if (!grammar.rawAndTripleStrings && next === '/') return { value: '/', length: 2 };
  return undefined;
}

function isLoneSurrogate(sql: string, at: number): boolean {
  const code = sql.codePointAt(at) ?? 0;
  const before = sql.charCodeAt(at - 1);
  if (code >= 0xdc00 && code <= 0xdfff) return !(before >= 0xd800 && before <= 0xdbff);
  return code >= 0xd800 && code <= 0xdbff;
}

/** Written with the few escapes that both engines read alike; everything else stands as it is. */
export function writeString(value: string): string {
  const escaped = value.replace(/[\\'\n\r\t]/g, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    return character === '\t' ? '\\t' : `\\${character}`;
  });
  return `'${escaped}'`;
}

/** Every name of a caller is quoted, so that none of them can be a keyword. Undefined for one that cannot be. */
export function writeName(text: string, dialect: GatePolicy['dialect']): string | undefined {
  const isPlain = dialect === 'bigquery' ? /^[\p{L}\p{N}_ -]{1,300}$/u : /^[^\p{C}\\`]{1,300}$/u;
  return isPlain.test(text) ? `\`${text}\`` : undefined;
}
