import type { Contender } from './contender.ts';
import { titleOf, type Line } from './lines.ts';
import type { Measured } from './measure.ts';

export interface Roles {
  readonly toolbox: Contender;
  readonly dbhub: Contender;
  readonly limit: Contender;
}

/** One line's figures in plain text, with how many times a peer's rate each has, and its part of the limit's. */
export function table(
  line: Line,
  results: ReadonlyMap<Contender, Measured>,
  { toolbox, dbhub, limit }: Roles,
  pgbench: number | undefined,
): string {
  const rateOf = (contender: Contender) => {
    const result = results.get(contender);
    return result === undefined || 'wrong' in result ? Number.NaN : result.rate;
  };
  const head = [
    '',
    'req/s',
    'p50 ms',
    'p99 ms',
    'CPU µs',
    'PG CPU µs',
    'RSS MB',
    'bytes',
    '×Toolbox',
    '×DBHub',
    '×limit',
  ];
  const rows = [...results].map(([contender, result]) => {
    if ('wrong' in result) return [contender.name, `no rival: ${result.wrong.replaceAll(/\s+/g, ' ').slice(0, 200)}`];
    const ratio = (to: Contender) => {
      const value = result.rate / rateOf(to);
      return Number.isNaN(value) ? '–' : value.toFixed(2);
    };
    return [
      contender.name,
      result.rate.toFixed(result.rate < 100 ? 1 : 0),
      result.p50.toFixed(2),
      result.p99.toFixed(2),
      result.cpu.toFixed(0),
      result.databaseCpu.toFixed(0),
      result.residentMb.toFixed(0),
      result.bytes.toFixed(0),
      ratio(toolbox),
      ratio(dbhub),
      ratio(limit),
    ];
  });
  const widths = head.map((name, at) =>
    Math.max(name.length, ...rows.filter(({ length }) => length === head.length).map((row) => row[at]?.length ?? 0)),
  );
  widths[0] = Math.max(...rows.map(([name = '']) => name.length));
  const write = (row: readonly string[]) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  const client = pgbench === undefined ? '' : `; pgbench ${pgbench.toFixed(0)} a second`;
  return [titleOf(line) + client, write(head), ...rows.map(write)].join('\n');
}
