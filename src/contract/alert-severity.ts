import type { Severity } from './incident.ts';

const words: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ...named('critical', 'critical crit page fatal emergency emerg disaster blocker'),
  ...named('high', 'high major error err severe'),
  ...named('medium', 'medium moderate average warning warn minor'),
  ...named('low', 'low info informational information notice debug'),
]);

const levels: readonly Severity[] = ['critical', 'critical', 'high', 'medium', 'low', 'low'];

/**
 * What a sender's word for a severity or priority means: `P1`, `SEV-2`, `sev 3: minor`, `warning`, `Critical`. Anything
 * else is `unknown`.
 */
export function severityOf(word: string | null | undefined): Severity {
  const plain = (word ?? '').slice(0, 100).trim().toLowerCase();
  const level = /^(?:p|prio|priority|s|sev|severity)[\s_-]?([0-5])\b/.exec(plain)?.[1];
  return (level === undefined ? words.get(plain) : levels[Number(level)]) ?? 'unknown';
}

function named(severity: Severity, names: string): readonly (readonly [string, Severity])[] {
  return names.split(' ').map((name) => [name, severity] as const);
}
