/** The engine's infinities. */
const infinite = 2n ** 63n - 1n;
const safe = BigInt(Number.MAX_SAFE_INTEGER);
const daySeconds = 86_400;
/** What a Date can hold. */
const mostSeconds = 8.64e12;

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/**
 * RFC 3339 in UTC of `ticks` since the epoch, `digits` of them after the decimal point of a second (0, 3, 6 or 9): with
 * a fraction of as many groups of three digits as the time needs.
 */
export function rfc3339(ticks: bigint, digits: 0 | 3 | 6 | 9): string {
  if (ticks === infinite) return 'infinity';
  if (ticks === -infinite) return '-infinity';
  const [seconds, fraction] = split(ticks, 10 ** digits);
  // RFC 3339 cannot write it either.
  if (Math.abs(seconds) > mostSeconds) return `${(ticks - BigInt(fraction)) / 10n ** BigInt(digits)}s`;
  const whole = textOf(seconds);
  if (fraction === 0) return `${whole}Z`;
  let text = String(fraction).padStart(digits, '0');
  while (text.endsWith('000')) text = text.slice(0, -3);
  return `${whole}.${text}Z`;
}

/** Whole seconds, rounded down, and the ticks beyond them. */
function split(ticks: bigint, perSecond: number): readonly [number, number] {
  let seconds: number;
  let fraction: number;
  if (ticks <= safe && ticks >= -safe) {
    const number = Number(ticks);
    seconds = Math.floor(number / perSecond);
    // Exact, also where the quotient was rounded up to the next second.
    fraction = number - seconds * perSecond;
  } else {
    const divisor = BigInt(perSecond);
    seconds = Number(ticks / divisor);
    fraction = Number(ticks % divisor);
  }
  return fraction < 0 ? [seconds - 1, fraction + perSecond] : [seconds, fraction];
}

/** Rows of one result are mostly of one day, and a Date costs more than all the rest. */
let lastDay = 0;
let lastDate = '1970-01-01';

function textOf(seconds: number): string {
  const day = Math.floor(seconds / daySeconds);
  if (day !== lastDay) {
    lastDate = new Date(day * daySeconds * 1_000).toISOString().slice(0, -'T00:00:00.000Z'.length);
    lastDay = day;
  }
  const rest = seconds - day * daySeconds;
  return `${lastDate}T${twoDigits[Math.floor(rest / 3_600)]}:${twoDigits[Math.floor(rest / 60) % 60]}:${twoDigits[rest % 60]}`;
}
