const maxKept = 10_000;

/**
 * True the first time a value is shown, until it expires. In this process alone: across instances the provider's own rule
 * holds, by which a code works once.
 */
export function createOnce(now: () => number): (value: string, expiresAt: number) => boolean {
  const seen = new Map<string, number>();
  return (value, expiresAt) => {
    for (const [old, end] of seen) {
      if (end > now() && seen.size < maxKept) break;
      seen.delete(old);
    }
    if (seen.has(value)) return false;
    seen.set(value, expiresAt);
    return true;
  };
}
