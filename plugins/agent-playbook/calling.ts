/** One service calls another. */
export interface Calling {
  readonly caller: string;
  readonly callee: string;
}

/** Whether one service calls the other, directly or through others; not through itself. */
export function reaches(calls: readonly Calling[], from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const service of seen) {
    for (const { caller, callee } of calls) {
      if (caller !== service) continue;
      if (callee === to) return true;
      seen.add(callee);
    }
  }
  return false;
}
