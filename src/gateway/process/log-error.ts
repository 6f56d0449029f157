const longestText = 4_000;
const deepest = 6;
const mostParts = 200;

/**
 * An error, or whatever else was thrown, as the log has it: type, message, stack, own members and causes, all of them short.
 * An engine quotes values in its messages, and a value can be made as large as one likes: in full, a statement of sixty
 * bytes wrote fifty megabytes and held up everybody while it did.
 */
export function serializeError(thrown: unknown): unknown {
  let parts = 0;

  function serialize(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return short(value);
    if (typeof value === 'function' || typeof value === 'symbol') return undefined;
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Date) return value;
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    parts += 1;
    if (depth >= deepest || parts > mostParts) return '[more]';
    if (Array.isArray(value)) return value.slice(0, 20).map((item) => serialize(item, depth + 1));
    const members = Object.entries(value)
      .slice(0, 30)
      .map(([name, member]) => [short(name), serialize(member, depth + 1)] as const);
    if (!(value instanceof Error)) return Object.fromEntries(members);
    const { message, stack, cause } = value;
    return {
      type: value.constructor.name,
      message: short(message),
      stack: stack === undefined ? undefined : short(withoutMessage(stack, message)),
      ...Object.fromEntries(members),
      ...(cause === undefined ? {} : { cause: serialize(cause, depth + 1) }),
    };
  }

  return serialize(thrown, 0);
}

/** A stack begins with the message, which would take all the room there is when it is long. */
function withoutMessage(stack: string, message: string): string {
  const at = message.length > 200 ? stack.indexOf(message) : -1;
  return at === -1 ? stack : `${stack.slice(0, at)}…${stack.slice(at + message.length)}`;
}

function short(text: string): string {
  if (text.length <= longestText) return text;
  return `${text.slice(0, longestText)}…[${text.length - longestText} characters cut]`;
}
