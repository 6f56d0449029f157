import { randomInt } from 'node:crypto';

/** Conditions on `time` as people write them and as nobody would; the engine takes most of them. */
export function randomPredicates(count: number): readonly string[] {
  return Array.from({ length: count }, () => condition(3));
}

function condition(depth: number): string {
  const kind = depth === 0 ? 0 : randomInt(9);
  if (kind <= 4) return comparison();
  if (kind <= 6) return `(${condition(depth - 1)} AND ${condition(depth - 1)})`;
  if (kind === 7) return `(${condition(depth - 1)} OR ${condition(depth - 1)})`;
  return `NOT (${condition(depth - 1)})`;
}

function comparison(): string {
  const column = one([
    'time',
    'time',
    'time',
    'start_time',
    "date_trunc('day', time)",
    'time::DATE',
    "time_bucket(INTERVAL '5 minutes', time)",
    "(time + INTERVAL '1 day')",
  ]);
  switch (randomInt(5)) {
    case 0:
      return `${column} ${one(['', 'NOT '])}BETWEEN ${moment()} AND ${moment()}`;
    case 1:
      return `${moment()} ${operator()} ${column}`;
    case 2:
      return one(["name = 'n'", "name = 'x'", 'flags IS NULL', 'time IS NOT NULL', 'time > start_time']);
    default:
      return `${column} ${operator()} ${moment()}`;
  }
}

function moment(): string {
  const base = one([
    'now()',
    'current_timestamp',
    'localtimestamp',
    'now()::TIMESTAMP',
    "(now() AT TIME ZONE 'UTC')",
    'current_date',
    'today()',
    'CAST(now() AS DATE)',
    `date_trunc('${one(['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'])}', now())`,
    `TIMESTAMP '${written()}'`,
    `TIMESTAMPTZ '${written()}${one(['', '+02', '-05:30', 'Z', ' UTC'])}'`,
    `'${written()}'::TIMESTAMP`,
    `'${written()}'`,
    `'${written()}'::DATE`,
    `TIMESTAMP '${written()}${one(['Z', '+03', ''])}'`,
  ]);
  if (randomInt(3) === 0) return base;
  return `${base} ${one(['-', '-', '+'])} ${interval()}`;
}

function written(): string {
  const day = one(['2026-01-01', '2026-02-28', '2026-03-01', new Date().toISOString().slice(0, 10)]);
  return `${day}${one(['', ' 00:00:00', ' 00:00:00.001', 'T12:34:00', ' 23:59:59.9999996'])}`;
}

function interval(): string {
  const count = randomInt(-3, 400);
  const unit = one(['second', 'minute', 'hour', 'hour', 'day', 'week']);
  return one([
    `INTERVAL '${count} ${unit}s'`,
    `INTERVAL (${count}) ${unit.toUpperCase()}`,
    `INTERVAL ${Math.abs(count)} ${unit.toUpperCase()}`,
    `to_hours(${count})`,
    `(${count} * INTERVAL '1 hour')`,
    `INTERVAL '${randomInt(1, 5)} months ${randomInt(40)} days'`,
    `INTERVAL '${randomInt(1, 30)}d ${randomInt(40)}h ${randomInt(40)}m'`,
    `-INTERVAL '${randomInt(1, 6)} mons'`,
    `INTERVAL '1 quarter'`,
    `INTERVAL '${randomInt(1, 3)} years'`,
  ]);
}

function operator(): string {
  return one(['>', '>=', '<', '<=', '=', '<>', '>', '>=']);
}

function one<const T>(choices: readonly [T, ...T[]]): T {
  return choices[randomInt(choices.length)] ?? choices[0];
}
