/** A span of one trace. Milliseconds. */
export interface TimedSpan {
  readonly id: string;
  /** Empty where it has none. */
  readonly parentId: string;
  readonly service: string;
  readonly operation: string;
  /** Consumes an asynchronous message. */
  readonly consumer: boolean;
  readonly start: number;
  readonly duration: number;
}

interface Interval {
  readonly start: number;
  readonly end: number;
}

/** A span on the critical path, when it is there, and what of the root's time is its own. Milliseconds. */
export interface PathLink extends Interval, Pick<TimedSpan, 'id' | 'service' | 'operation'> {
  readonly self: number;
}

/**
 * The chain of spans that determine when a trace ends, as CRISP (Zhang et al. 2022) walks it: from the root's end back, each
 * time into the child that ended last before, so that shortening any other span would not have helped. From the longest span
 * without a parent, since parents may be missing; earliest first; the own times add up to that span's.
 */
export function criticalPath(received: readonly TimedSpan[]): readonly PathLink[] {
  // What was sent twice is one span: then each has one parent, and none is met twice on the way down from a root.
  const byId = new Map(received.map((span) => [span.id, span]));
  const spans = [...byId.values()];
  const children = Map.groupBy(spans, ({ parentId }) => parentId);
  const [root] = spans
    .filter(({ parentId }) => !byId.has(parentId))
    .toSorted((a, b) => b.duration - a.duration || a.start - b.start);
  if (root === undefined) return [];
  const links: PathLink[] = [];
  // A chain may be deeper than a stack of calls.
  const ahead = [{ span: root, within: { start: root.start, end: root.start + root.duration } }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { span, within } = next;
    const waitedFor = (children.get(span.id) ?? [])
      .map((child) => ({ child, at: placed(child, span, within) }))
      .filter((one): one is { child: TimedSpan; at: Interval } => one.at !== undefined)
      .toSorted((a, b) => b.at.end - a.at.end || b.at.start - a.at.start);
    let cursor = within.end;
    const chosen: typeof waitedFor = [];
    for (const one of waitedFor) {
      if (one.at.end > cursor) continue;
      chosen.push(one);
      cursor = one.at.start;
    }
    const inner = chosen.reduce((sum, { at }) => sum + at.end - at.start, 0);
    const { id, service, operation } = span;
    links.push({ id, service, operation, ...within, self: Math.max(0, within.end - within.start - inner) });
    for (const { child, at } of chosen) ahead.push({ span: child, within: at });
  }
  return links;
}

/** Where a child stands within its parent's time; undefined where the parent did not wait for it. */
function placed(child: TimedSpan, parent: TimedSpan, { start, end }: Interval): Interval | undefined {
  const begun = Math.max(child.start, start);
  const ended = child.start + child.duration;
  const room = end - start;
  if (child.consumer) return undefined;
  if (child.start >= start && ended <= end) return { start: child.start, end: ended };
  if (child.service === parent.service) {
    // On one clock, what ends after its parent was not waited for.
    return ended <= end && ended > begun ? { start: begun, end: ended } : undefined;
  }
  // Another machine's clock: the answer is taken to have come back as fast as the call went out.
  if (child.duration > room) return { start, end };
  const middle = start + (room - child.duration) / 2;
  return { start: middle, end: Math.min(end, middle + child.duration) };
}
