const state = /^\[(?:P\d|TEST|(?:Re-)?(?:Triggered|Warn|No Data|Recovered)|Renotify)\b[^\]]*\]\s*/i;

/** The monitor's name: Datadog puts its priority and state in brackets before it, `[P2] [Triggered on {host:a}] Disk is full`. */
export function titleOf(title: string): string {
  let rest = title.slice(0, 2_000);
  while (state.test(rest)) rest = rest.replace(state, '');
  return rest === '' ? title : rest;
}
