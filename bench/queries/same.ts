import type { Rows } from './stage.ts';

const moment = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00(?::00)?)?$/;
const number = /^-?\d{1,19}(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Throws unless both have the same rows in the same order, however each writes its numbers and times. */
export function mustBeSame(own: Rows, tool: Rows, about: string): void {
  if (own.length === 0) throw new Error(`${about}: there are no rows`);
  if (own.length !== tool.length) throw new Error(`${about}: ${own.length} rows, through the tool ${tool.length}`);
  for (const [at, row] of own.entries()) {
    const [one, other] = [row.map(plain).join(' | '), (tool[at] ?? []).map(plain).join(' | ')];
    if (one !== other) throw new Error(`${about}: row ${at} is ${one}, through the tool ${other}`);
  }
}

function plain(cell: unknown): string {
  if (cell === null || cell === undefined) return 'NULL';
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  const time = moment.exec(text);
  if (time !== null) return `${time[1]} ${time[2]}.${(time[3] ?? '').padEnd(9, '0')}`;
  // Fifteen digits are what every engine prints alike.
  return number.test(text) ? Number(text).toPrecision(15) : text;
}
