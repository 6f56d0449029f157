import type { FoundColumn, Holds, SightedTable, ValueReader } from '../../../src/contract/telemetry/index.ts';
import { identifier, literal, tablePath, textOf, type Rows } from '../quote.ts';
import { map } from '../types.ts';
import type { FoundTable } from './profile.ts';

const kinds: readonly (readonly [RegExp, Holds])[] = [
  [/^(String|FixedString)/, 'text'],
  [/^Enum/, 'enum'],
  [/^UUID/, 'uuid'],
  [/^U?Int/, 'integer'],
  [/^(Float|Decimal|BFloat)/, 'float'],
  [/^Bool/, 'boolean'],
  [/^Date/, 'time'],
  [/^(Map\((LowCardinality\()?String\)?, (LowCardinality\()?String\)|JSON)/, 'map'],
  [/^Map\(/, 'typed map'],
];

function holdsOf(type: string): Holds {
  const plain = type.replaceAll(/^(LowCardinality\(|Nullable\()+/g, '');
  return kinds.find(([pattern]) => pattern.test(plain))?.[1] ?? 'other';
}

/** A table as the mapping's proposal knows it; arrays of keys and of values are one map. */
export function sighted({ database, name, columns }: FoundTable): SightedTable {
  const quoted = (column: string) => (/^[A-Za-z_]\w*$/.test(column) ? column : identifier(column));
  const found = [...columns].flatMap(([column, type]): readonly FoundColumn[] => {
    const holds = holdsOf(type);
    const [, base] = /^(\w+?)[._]keys?$/.exec(column) ?? [];
    const values = ['.value', '.values', '_values', '_value']
      .map((end) => `${base}${end}`)
      .find((one) => columns.has(one));
    if (base === undefined || values === undefined || !type.startsWith('Array(')) {
      return [
        {
          name: column,
          sql: quoted(column),
          holds,
          nullable: type.startsWith('Nullable') || type.includes('(Nullable'),
        },
      ];
    }
    const texts = `arrayMap(_value -> toString(_value), ${quoted(values)})`;
    return [{ name: base, sql: `CAST((${quoted(column)}, ${texts}), '${map}')`, holds: 'map', nullable: false }];
  });
  return { from: tablePath(`${database}.${name}`), columns: found };
}

/** A cell as text: nanoseconds of times, JSON of maps, `\x…` of what is no text. */
function cell(expression: string, type: string): string {
  const holds = holdsOf(type);
  if (holds === 'time') return `toString(toUnixTimestamp64Nano(toDateTime64(${expression}, 9)))`;
  if (/map$|other/.test(holds)) return `substringUTF8(toJSONString(${expression}), 1, 4000)`;
  if (holds !== 'text') return `toString(${expression})`;
  const isText = `isValidUTF8(${expression}) AND NOT match(${expression}, '[\\\\x00-\\\\x08]')`;
  const bytes = String.raw`concat('\\x', lower(hex(substring(${expression}, 1, 64))))`;
  return `if(${isText}, substringUTF8(toString(${expression}), 1, 4000), ${bytes})`;
}

const units = { ns: 'Nano', us: 'Micro', ms: 'Milli' } as const;
const most = 1_000;

export function valueReader(rows: Rows): ValueReader {
  return {
    async sample(from, where, expressions) {
      if (expressions.length === 0) return [];
      const listed = expressions.map((expression, at) => `(${expression}) AS _${at}`).join(', ');
      const types = (await rows(`DESCRIBE TABLE (SELECT ${listed} FROM ${from})`)).map(({ type }) => textOf(type));
      const cells = types.map((type, at) => `${cell(`_${at}`, type)} AS _c${at}`).join(', ');
      const filter = where === undefined ? '' : ` WHERE ${where}`;
      const found = await rows(`SELECT ${cells} FROM (SELECT ${listed} FROM ${from}${filter} LIMIT ${most})`);
      return types.map((type, at) => ({
        holds: holdsOf(type),
        cells: found.map((row) => (row[`_c${at}`] === null ? null : textOf(row[`_c${at}`]))),
      }));
    },
    sql: {
      text: (expression) => `toString(${expression})`,
      hex: (expression, of) =>
        of === 'integer'
          ? `leftPad(lower(hex(toUInt64(${expression}))), 16, '0')`
          : `lower(hex(${of === 'bytes' ? expression : `base64Decode(${expression})`}))`,
      moment(expression, form) {
        if (form === 'local') return expression;
        if (form === 'text') return `parseDateTime64BestEffort(${expression}, 9, 'UTC')`;
        if (form === 's') return `fromUnixTimestamp64Micro(toInt64(${expression} * 1000000))`;
        return `fromUnixTimestamp64${units[form]}(toInt64(${expression}))`;
      },
      bounds(expression, form) {
        if (form === 'text' || form === 'local') return [];
        const at = (end: string) =>
          form === 's' ? `toUnixTimestamp(${end})` : `toUnixTimestamp64${units[form]}(toDateTime64(${end}, 9))`;
        return [`${expression} >= ${at('{start}')}`, `${expression} <= ${at('{end}')}`];
      },
      nanos: (expression, unit) => {
        const factor = { ns: 1, us: 1_000, ms: 1_000_000, s: 1_000_000_000, interval: 1 }[unit];
        return `toInt64(coalesce(${expression}, 0) * ${factor})`;
      },
      between: (start, end) =>
        `coalesce(toUnixTimestamp64Nano(toDateTime64(${end}, 9)) - toUnixTimestamp64Nano(toDateTime64(${start}, 9)), 0)`,
      after: (start, nanos) => `addNanoseconds(toDateTime64(${start}, 9), ${nanos})`,
      map(expression, of) {
        if (of === 'typed map') return `mapApply((_key, _value) -> (_key, toString(_value)), ${expression})`;
        const text = (raw: string) => `if(startsWith(${raw}, '"'), JSONExtractString(${raw}), ${raw})`;
        const pairs =
          of === 'pairs'
            ? `arrayMap(_pair -> (JSONExtractString(_pair, 'key'), ${text("JSONExtractKeysAndValuesRaw(_pair, 'value')[1].2")}), JSONExtractArrayRaw(${expression}))`
            : `arrayMap(_pair -> (_pair.1, ${text('_pair.2')}), JSONExtractKeysAndValuesRaw(${expression}))`;
        return `CAST(${pairs}, '${map}')`;
      },
      merged: (maps) => `mapConcat(${maps.join(', ')})`,
      attribute: (read, key) => (/^[A-Za-z_]\w*$/.test(read) ? read : `(${read})`) + `[${literal(key)}]`,
    },
  };
}
