/** The engine's infinities. */
const infinite = 2n ** 63n - 1n;

/**
 * RFC 3339 in UTC of `ticks` since the epoch, `digits` of them after the decimal point of a second (0, 3, 6 or 9): with
 * a fraction of as many groups of three digits as the time needs.
 */
export function rfc3339(ticks: bigint, digits: 0 | 3 | 6 | 9): string {
  if (ticks === infinite) return 'infinity';
  if (ticks === -infinite) return '-infinity';
  const perSecond = 10n ** BigInt(digits);
  let seconds = ticks / perSecond;
  let fraction = ticks % perSecond;
  if (fraction < 0n) {
    fraction += perSecond;
    seconds -= 1n;
  }
  const milliseconds = Number(seconds) * 1000;
  // Beyond what a Date can hold, which RFC 3339 cannot write either.
  if (Math.abs(milliseconds) > 8.64e15) return `${seconds}s`;
  const whole = new Date(milliseconds).toISOString().slice(0, -5);
  if (fraction === 0n) return `${whole}Z`;
  let text = fraction.toString().padStart(digits, '0');
  while (text.endsWith('000')) text = text.slice(0, -3);
  return `${whole}.${text}Z`;
}
