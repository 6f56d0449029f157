import { closing, write, type Cure, type Statement, type Token } from './tokens.ts';

const subtractions: ReadonlySet<string> = new Set([
  'date_sub',
  'datesub',
  'timestamp_sub',
  'subtractseconds',
  'subtractminutes',
  'subtracthours',
  'subtractdays',
  'subtractweeks',
]);
const additions: ReadonlySet<string> = new Set(['date_add', 'dateadd', 'timestampadd']);
const clocks: ReadonlySet<string> = new Set(['getdate', 'sysdate', 'getutcdate']);
const units = ['second', 'minute', 'hour', 'day', 'week'] as const;

/** So long before now in another dialect's words: `DATE_SUB(NOW(), INTERVAL 1 HOUR)`, `DATEADD(hour, -1, GETDATE())`. */
export function dateArithmetic(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const { dialect } = statement;
  const token = tokens[at];
  if (token?.kind !== 'word') return undefined;
  const opens = tokens[at + 1]?.text === '(';
  const end = opens ? closing(tokens, at + 1) : at;
  if (clocks.has(token.text)) return write(statement, token, tokens[end], dialect.write.ago(0, 'second'));
  const inside = tokens.slice(at + 2, end);
  const said = inside.map(({ text }) => text.toLowerCase());
  // The dialect may have a function of this name, with other arguments.
  if (dialect.functions.includes(token.text) && !said.includes('interval')) return undefined;
  if (!subtractions.has(token.text) && !(additions.has(token.text) && said.includes('-'))) return undefined;
  if (!said.some((word) => word === 'now' || word.startsWith('current_') || clocks.has(word))) return undefined;
  const count = inside.find(({ kind, text }) => kind === 'number' || (kind === 'string' && /^\d/.test(text)));
  const amount = Number.parseFloat(count?.text ?? '');
  const unit = units.find((each) => said.some((word) => word.includes(each)) || token.text.includes(each));
  if (!Number.isSafeInteger(amount) || unit === undefined) return undefined;
  return write(statement, token, tokens[end], dialect.write.ago(amount, unit));
}

const comparisons: ReadonlySet<string> = new Set(['=', '<', '<=', '>', '>=', '<>', '!=']);
const letters = { s: 'second', m: 'minute', h: 'hour', d: 'day', w: 'week' } as const;

/** `time > 'now-1h'`, as the arguments of the tool take it. */
export function relativeTime(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, text] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (column === undefined || !/^((start|end|observed)_)?time$/.test(column.text) || text?.kind !== 'string')
    return undefined;
  const ago = /^now(?:\(\))?\s*(?:-\s*(\d{1,6})\s*([smhdw]))?$/i.exec(text.text);
  if (ago === null || !comparisons.has(sign?.text ?? '')) return undefined;
  const unit = Object.entries(letters).find(([letter]) => letter === ago[2]?.toLowerCase())?.[1] ?? 'second';
  return write(statement, text, text, statement.dialect.write.ago(Number(ago[1] ?? 0), unit));
}

const nanoseconds: Readonly<Record<string, number>> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, h: 3.6e12 };

/** `duration_nano > '500ms'`. */
export function durationAsText(tokens: readonly Token[], at: number, statement: Statement): Cure | undefined {
  const [column, sign, text] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (column?.text !== 'duration_nano' || text?.kind !== 'string' || !comparisons.has(sign?.text ?? ''))
    return undefined;
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ns|us|ms|s|m|h)$/i.exec(text.text) ?? [];
  const nanos = Number(count) * (nanoseconds[unit.toLowerCase()] ?? Number.NaN);
  if (!Number.isFinite(nanos)) return undefined;
  return write(statement, text, text, String(Math.round(nanos)), 'duration_nano is a number of nanoseconds. ');
}
