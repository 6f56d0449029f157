import { otelTables } from '../../contract/telemetry/index.ts';
import { utcText } from './moment.ts';
import type { Output } from './output.ts';
import type { Scope } from './scope.ts';
import type { Expression, Given } from './tree.ts';
import { writeOperand } from './write-item.ts';

const timeColumns: ReadonlySet<string> = new Set(
  Object.values(otelTables).flatMap(({ columns }) =>
    columns.flatMap(({ name, type }) => (type === 'timestamp' ? [name] : [])),
  ),
);
/** ClickHouse's functions that give a time, and those that give what their first argument is. */
const makers =
  /^(?:now(?:64)?|tostartof\w+|todate(?:32|time\w*)?|totimezone|date_?trunc|parsedatetime\w+|fromunixtimestamp\w*|(?:add|subtract)[a-z]+s)$/;
const keepers =
  /^(?:min|max|any|anylast|argmin|argmax)(?:if)?$|^(?:coalesce|ifnull|nullif|greatest|least|first_value|last_value|\w+inframe)$/;

/** ClickHouse reads no zone in a text beside a time: what the service itself prints is written as a time. */
export function writeBeside(output: Output, scope: Scope, expression: Expression, other: Expression): void {
  const [moment] = momentsBeside(output, [expression], other) ?? [];
  if (moment === undefined) writeOperand(output, scope, expression);
  else output.text(moment);
}

/** Texts of a list beside a time; undefined where not all of them are moments with a zone. */
export function momentsBeside(
  output: Output,
  list: readonly Expression[],
  other: Expression,
): readonly string[] | undefined {
  if (output.isBigQuery) return undefined;
  const moments = list.flatMap((each) => (each.kind === 'string' ? (utcText(each.value) ?? []) : []));
  if (moments.length < list.length || !isTime(other, output.given)) return undefined;
  return moments.map((moment) => {
    // What a DateTime64(9) can hold.
    const held = moment < '1900' ? '1900-01-01 00:00:00' : moment > '2262' ? '2262-01-01 00:00:00' : moment;
    return `toDateTime64('${held}', 9, 'UTC')`;
  });
}

function isTime(expression: Expression, given: Given, depth = 0): boolean {
  const inner = (each: Expression | undefined) => each !== undefined && depth < 8 && isTime(each, given, depth + 1);
  switch (expression.kind) {
    case 'name': {
      const name = expression.parts.at(-1)?.text.toLowerCase() ?? '';
      // A column may lie beneath an alias of its own name.
      const meant = given.get(name)?.filter((each) => !isNamed(each, name)) ?? [];
      return meant.length > 0 ? meant.every(inner) : timeColumns.has(name);
    }
    case 'alias':
      return inner(expression.operand);
    case 'call':
      return (
        makers.test(expression.name.toLowerCase()) ||
        (keepers.test(expression.name.toLowerCase()) && inner(expression.arguments[0]))
      );
    case 'binary':
      return /^[+-]$/.test(expression.operator) && inner(expression.left) && expression.right.kind !== 'name';
    case 'subquery':
      return expression.query.body.kind === 'select' && inner(expression.query.body.items[0]);
    default:
      return false;
  }
}

function isNamed(expression: Expression, name: string): boolean {
  return expression.kind === 'name' && expression.parts.at(-1)?.text.toLowerCase() === name;
}
