/** Lines of YAML for a config section: objects, lists, strings, numbers and booleans. */
export function yaml(value: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(value).flatMap(([key, item]) => entry(`${scalar(key)}:`, item));
}

function entry(head: string, item: unknown): readonly string[] {
  if (Array.isArray(item)) {
    if (item.length === 0) return [`${head} []`];
    return [head, ...item.flatMap((each) => entry('-', each)).map((line) => `  ${line}`)];
  }
  if (isRecord(item)) {
    const lines = yaml(item).map((line) => `  ${line}`);
    return lines.length === 0 ? [`${head} {}`] : [head, ...lines];
  }
  return [`${head} ${scalar(item)}`];
}

/** A plain word as it is, everything else as JSON, which is YAML too. */
function scalar(value: unknown): string {
  const plain =
    typeof value === 'string' &&
    /^[A-Za-z_][\w./-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
