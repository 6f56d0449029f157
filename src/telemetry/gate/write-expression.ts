import { writeCall } from './write-call.ts';
import { writeBracketed, writeItem, writeOperand, writeType } from './write-item.ts';
import { writeBeside } from './time-text.ts';
import { writeIn } from './write-in.ts';
import { shown } from './fault.ts';
import type { Output } from './output.ts';
import { writeString } from './quoted.ts';
import type { Scope } from './scope.ts';
import type { Binary, Expression, Name, Star } from './tree.ts';
import { extractParts, timeUnits } from './words.ts';

/** Writes an expression, bracketed where an engine's precedence could differ. */
export function writeExpression(output: Output, scope: Scope, expression: Expression): void {
  const write = (inner: Expression): void => writeExpression(output, scope, inner);
  const operand = (inner: Expression): void => writeOperand(output, scope, inner);
  const list = (items: readonly Expression[]): void => output.list(items, write);
  switch (expression.kind) {
    case 'number':
    case 'constant':
      return output.text(expression.text);
    case 'string':
      return output.text(writeString(expression.value));
    case 'typed':
      return output.text(`${expression.type} ${writeString(expression.value)}`);
    case 'name':
      return writePath(output, expression.parts);
    case 'star':
      return writeStar(output, scope, expression);
    case 'call':
      return writeCall(output, scope, expression);
    case 'unary':
      output.text(expression.operator === 'NOT' ? 'NOT ' : expression.operator);
      return expression.operator === 'NOT' || expression.operand.kind !== 'unary'
        ? operand(expression.operand)
        : writeBracketed(output, scope, expression.operand);
    case 'binary':
      return writeBinary(output, scope, expression);
    case 'between':
      operand(expression.operand);
      output.text(expression.not ? ' NOT BETWEEN ' : ' BETWEEN ');
      writeBeside(output, scope, expression.low, expression.operand);
      output.text(' AND ');
      return writeBeside(output, scope, expression.high, expression.operand);
    case 'in':
      return writeIn(output, scope, expression);
    case 'is':
      operand(expression.operand);
      return output.text(` IS ${expression.not ? 'NOT ' : ''}${expression.what}`);
    case 'case':
      output.text('CASE');
      if (expression.operand !== undefined) {
        output.text(' ');
        write(expression.operand);
      }
      for (const { when, result } of expression.branches) {
        output.text(' WHEN ');
        write(when);
        output.text(' THEN ');
        write(result);
      }
      if (expression.otherwise !== undefined) {
        output.text(' ELSE ');
        write(expression.otherwise);
      }
      return output.text(' END');
    case 'cast':
      // `0.1::Decimal(9, 4)` is exact in ClickHouse, and CAST(0.1 AS …) is not.
      if (expression.operator && !expression.safe) {
        operand(expression.operand);
        output.text('::');
        return writeType(output, expression.type);
      }
      output.text(expression.safe ? 'SAFE_CAST(' : 'CAST(');
      write(expression.operand);
      output.text(' AS ');
      writeType(output, expression.type);
      return output.text(')');
    case 'interval':
      return writeInterval(output, scope, expression);
    case 'extract':
      if (!(output.isBigQuery ? extractParts : timeUnits).has(expression.part))
        throw unknownPart(output, expression.part);
      output.text(`EXTRACT(${expression.part} FROM `);
      write(expression.operand);
      if (expression.zone !== undefined) {
        output.text(' AT TIME ZONE ');
        operand(expression.zone);
      }
      return output.text(')');
    case 'array':
      if (expression.type !== undefined) writeType(output, expression.type);
      output.text('[');
      list(expression.items);
      return output.text(']');
    case 'tuple':
      output.text(output.isBigQuery || expression.items.length > 1 ? '(' : 'tuple(');
      list(expression.items);
      return output.text(')');
    case 'struct':
      if (expression.type === undefined) output.text('STRUCT');
      else writeType(output, expression.type);
      output.text('(');
      output.list(expression.items, (item) => writeItem(output, scope, item));
      return output.text(')');
    case 'subscript':
      operand(expression.operand);
      output.text('[');
      writeIndex(output, scope, expression.index);
      return output.text(']');
    case 'field':
      return writeField(output, scope, expression.operand, expression.name);
    case 'lambda':
      // A lambda with a name would be a function of that name in every query inside: `equals` beneath a tenant's predicate.
      throw output.faults.refuse(
        'sql_refused',
        'A lambda can only be an argument.',
        expression.parameters[0]?.start,
        'Write it into the call: arrayMap(x -> x + 1, items).',
      );
    case 'conditional':
      output.text('if(');
      list([expression.condition, expression.yes, expression.no]);
      return output.text(')');
    case 'subquery':
      output.text(`${expression.form}(`);
      output.query(scope, expression.query);
      return output.text(')');
    case 'alias':
      return writeBracketed(output, scope, expression);
  }
}

/** In ClickHouse as the function that it is: `INTERVAL 'text' DAY` has a reading of its own there. */
function writeInterval(
  output: Output,
  scope: Scope,
  { amount, unit }: Extract<Expression, { readonly kind: 'interval' }>,
): void {
  if (unit !== undefined && !output.isBigQuery) {
    output.text(`toInterval${unit.charAt(0)}${unit.slice(1).toLowerCase()}(`);
    writeExpression(output, scope, amount);
    return output.text(')');
  }
  output.text('INTERVAL ');
  writeOperand(output, scope, amount);
  if (unit !== undefined) output.text(` ${unit}`);
}

function writeBinary(output: Output, scope: Scope, { operator, left, right }: Binary): void {
  // A long row of the same operator stays one, so that it does not become a deep nest of brackets.
  const isRow = left.kind === 'binary' && left.operator === operator && /^(?:AND|OR|\+|\|\|)$/.test(operator);
  const isComparison = /^(?:=|!=|<=?|>=?|<=>)$/.test(operator);
  if (isRow) writeExpression(output, scope, left);
  else if (isComparison) writeBeside(output, scope, left, right);
  else writeOperand(output, scope, left);
  output.text(` ${operator} `);
  if (isComparison) writeBeside(output, scope, right, left);
  else writeOperand(output, scope, right);
}

/** `otel.spans.name` → `spans.name`: what stands for the table has its name alone. */
export function withoutSchema(output: Output, parts: readonly Name[]): readonly Name[] {
  const [first, second] = parts;
  if (parts.length < 3 || first?.text.toLowerCase() !== 'otel' || second === undefined) return parts;
  return Object.hasOwn(output.faults.helpers.tables, second.text.toLowerCase()) ? parts.slice(1) : parts;
}

function writePath(output: Output, parts: readonly Name[]): void {
  const written = withoutSchema(output, parts).map((part, index) =>
    index === 0 ? output.quote(part) : output.quoteMember(part),
  );
  output.text(written.join('.'));
}

function writeStar(output: Output, scope: Scope, star: Star): void {
  const of = star.of.length < 2 ? star.of : withoutSchema(output, [...star.of, ...star.of.slice(0, 1)]).slice(0, -1);
  const [first] = of;
  if (of.length > 1 && !output.isBigQuery) {
    const hint = 'Write alias.*, with the alias of a FROM item.';
    throw output.faults.refuse('sql_refused', 'A star belongs to one FROM item.', first?.start, hint);
  }
  output.text([...of.map((part) => output.quote(part)), '*'].join('.'));
  if (star.except.length > 0) {
    output.text(' EXCEPT (');
    output.list(star.except, (name) => output.name(name));
    output.text(')');
  }
  if (star.replace.length > 0) {
    output.text(' REPLACE (');
    output.list(star.replace, ({ value, name }) => {
      writeExpression(output, scope, value);
      output.text(' AS ');
      output.name(name);
    });
    output.text(')');
  }
}

/** `array[OFFSET(0)]`: words of BigQuery's grammar, not functions. */
function writeIndex(output: Output, scope: Scope, index: Expression): void {
  const isPlace = index.kind === 'call' && output.isBigQuery && /^(?:safe_)?(?:offset|ordinal)$/i.test(index.name);
  if (isPlace) writeCall(output, scope, index, index.name.toUpperCase());
  else writeExpression(output, scope, index);
}

/** In ClickHouse as a function, so that brackets and dots never join into the name of a table. */
function writeField(output: Output, scope: Scope, operand: Expression, name: Name | number): void {
  if (output.isBigQuery) {
    if (typeof name === 'number')
      throw output.faults.refuse('sql_syntax', 'A field has a name, not a number.', undefined);
    if (operand.kind === 'name') output.text('(');
    writeOperand(output, scope, operand);
    output.text(operand.kind === 'name' ? ').' : '.');
    return output.name(name);
  }
  output.text('tupleElement(');
  writeExpression(output, scope, operand);
  output.text(`, ${typeof name === 'number' ? name : writeString(name.text)})`);
}

function unknownPart(output: Output, part: string): Error {
  return output.faults.refuse(
    'sql_refused',
    `EXTRACT cannot read ${shown(part)}.`,
    undefined,
    'Extract YEAR, MONTH, DAY, HOUR, MINUTE or SECOND.',
  );
}
