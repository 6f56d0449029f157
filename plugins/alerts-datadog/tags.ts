export type Tag = readonly [name: string, value: string];

/** Datadog's comma-separated lists of `name:value` or bare names, of which 20,000 characters count. */
export function readTags(...lists: readonly (string | undefined)[]): readonly Tag[] {
  return lists.flatMap((list) =>
    (list ?? '')
      .slice(0, 20_000)
      .split(',')
      .flatMap((part): Tag[] => {
        const [, name = '', value = ''] = /^([^:]*):?(.*)$/s.exec(part.trim()) ?? [];
        return name === '' || name === '*' ? [] : [[name, value]];
      }),
  );
}

/** Tags as labels, the values of one that is there several times joined; then what else is known of the alert. */
export function labelsOf(
  tags: readonly Tag[],
  more: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of tags) values.set(name, (values.get(name) ?? new Set()).add(value));
  for (const [name, value] of Object.entries(more)) {
    if (value !== undefined) values.set(name, new Set([value]));
  }
  return Object.fromEntries([...values].map(([name, each]) => [name, [...each].join(', ')]));
}
