/** What a number counts; decides how it is written and where an axis has its marks. */
export type Unit = 'count' | 'percent' | 'ms';

/** Of the width, as an attribute: pictures have no width of their own, so that text is as large on a phone. */
export function across(share: number): string {
  const bounded = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
  return `${Number((bounded * 100).toFixed(2))}%`;
}

/** A number that a picture can be drawn of; anything else counts as 0. */
export function amount(value: number): number {
  return isAmount(value) ? value : 0;
}

export function isAmount(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= 1e15;
}

/** Where a value lies between two others, 0 to 1; 0 where they are the same. */
export function shareOf(value: number, from: number, to: number): number {
  const share = (value - from) / (to - from);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}

/** The end of an axis that begins at 0, and a step that divides it: 1, 2 or 5 times a power of ten. */
export function niceAxis(highest: number, steps = 3): { readonly top: number; readonly ticks: readonly number[] } {
  const most = highest >= 1e-9 && highest <= 1e15 ? highest : 1;
  const rough = most / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const count = Math.max(1, Math.ceil(most / step - 1e-9));
  return { top: step * count, ticks: Array.from({ length: count + 1 }, (_, index) => step * index) };
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const widths = [
  ...[1, 5, 10, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 168, 720].map((count) => count * hour),
];

/** Round times between two, UTC, at most eight. */
export function timeTicks(from: number, to: number): readonly number[] {
  const width = widths.find((one) => (to - from) / one <= 7) ?? Math.max(1, (to - from) / 7);
  const ticks: number[] = [];
  for (let at = Math.ceil(from / width) * width; at <= to && ticks.length < 8; at += width) ticks.push(at);
  return ticks;
}

/** `13 %`, `1.2 s`, `12,400`: short, with its unit. */
export function quantity(value: number, unit: Unit): string {
  switch (unit) {
    case 'percent':
      return `${rounded(value)} %`;
    case 'ms':
      return Math.abs(value) >= 1_000 ? `${rounded(value / 1_000)} s` : `${rounded(value)} ms`;
    case 'count':
      return rounded(value);
  }
}

const groups = new Intl.NumberFormat('en-US');

/** `12,400`. */
export function grouped(value: number): string {
  return groups.format(value);
}

function rounded(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 10 || Number.isInteger(value) ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  return grouped(Number(value.toFixed(digits)));
}

/** `17:35`, with seconds where the time has some and with the date where `long`. UTC. */
export function clock(at: number, long = false): string {
  const iso = isTime(at) ? new Date(at).toISOString() : '';
  const time = iso.slice(11, at % minute === 0 ? 16 : 19);
  return long ? `${iso.slice(0, 10)} ${time}` : time;
}

/** One that a Date can hold. */
export function isTime(at: number): boolean {
  return Number.isFinite(at) && Math.abs(at) <= 8.64e15;
}

/** On one line, without what would reorder text, and cut to so many characters. */
export function label(text: string, longest: number): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return (line.length > longest ? `${line.slice(0, Math.max(1, longest - 1))}…` : line).toWellFormed();
}
