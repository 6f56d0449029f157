/**
 * What of a value has to be written in another way than ClickHouse writes it in JSON: fractions of seconds in groups of
 * three digits, and the names of what is no number. Undefined: nothing.
 */
export type Shape =
  | undefined
  | { readonly kind: 'time' }
  | { readonly kind: 'float' }
  /** An array or an unnamed tuple; the last shape stands for all that follow. */
  | { readonly kind: 'list'; readonly elements: readonly Shape[] }
  /** A map or a named tuple. */
  | { readonly kind: 'object'; readonly values: readonly Shape[] };

/** Of a type's name as the engine gives it; what is not known is left as it comes. */
export function shapeOf(type: string): Shape {
  const { name, args } = split(type);
  switch (name) {
    case 'DateTime64':
      return { kind: 'time' };
    case 'Float32':
    case 'Float64':
    case 'BFloat16':
      return { kind: 'float' };
    case 'Nullable':
    case 'LowCardinality':
      return shapeOf(args[0] ?? '');
    case 'SimpleAggregateFunction':
      return shapeOf(args[1] ?? '');
    case 'Array': {
      const element = shapeOf(args[0] ?? '');
      return element && { kind: 'list', elements: [element] };
    }
    case 'Map': {
      const value = shapeOf(args[1] ?? '');
      return value && { kind: 'object', values: [value] };
    }
    case 'Nested':
    case 'Tuple': {
      const elements = args.map((arg) => elementOf(arg));
      const shapes = elements.map(({ type: of }) => shapeOf(of));
      if (shapes.every((shape) => shape === undefined)) return undefined;
      const tuple: Shape = elements.every(({ named }) => named)
        ? { kind: 'object', values: shapes }
        : { kind: 'list', elements: shapes };
      return name === 'Nested' ? { kind: 'list', elements: [tuple] } : tuple;
    }
    default:
      return undefined;
  }
}

/** Whether a value of this shape may have to be written in another way whatever it is, and not only now and then. */
export function hasTime(shape: Shape): boolean {
  if (shape === undefined || shape.kind === 'float') return false;
  if (shape.kind === 'time') return true;
  return (shape.kind === 'list' ? shape.elements : shape.values).some((inner) => hasTime(inner));
}

function split(type: string): { readonly name: string; readonly args: readonly string[] } {
  const open = type.indexOf('(');
  if (open === -1) return { name: type.trim(), args: [] };
  const args: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let at = open; at < type.length; at += 1) {
    const character = type[at];
    if (character === '(') depth += 1;
    else if (character === "'" || character === '`') at = closing(type, at);
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) args.push(type.slice(start, at).trim());
    } else if (character === ',' && depth === 1) {
      args.push(type.slice(start, at).trim());
      start = at + 1;
    }
  }
  return { name: type.slice(0, open).trim(), args };
}

function closing(text: string, from: number): number {
  const quote = text[from];
  let at = from + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return at;
}

function elementOf(text: string): { readonly named: boolean; readonly type: string } {
  if (text.startsWith('`')) return { named: true, type: text.slice(closing(text, 0) + 1).trim() };
  const name = /^[A-Za-z_]\w*\s+(?=[A-Za-z])/.exec(text);
  return name === null ? { named: false, type: text } : { named: true, type: text.slice(name[0].length) };
}
