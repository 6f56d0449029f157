import { html, type Html } from '../html.ts';

const most = 60;

/** A course without an axis, 96 by 24 pixels, from a baseline of 0. `said` is read out in its place. */
export function sparkline(values: readonly number[], said: string): Html | undefined {
  const shown = values.slice(-most).map((value) => (Number.isFinite(value) ? Math.max(0, value) : 0));
  if (shown.length < 2) return undefined;
  const highest = Math.max(...shown) || 1;
  const points = shown.map(
    (value, index) =>
      `${((index / (shown.length - 1)) * 94 + 1).toFixed(1)} ${(22 - (value / highest) * 20).toFixed(1)}`,
  );
  return html`<svg class="gfx spark" role="img" viewBox="0 0 96 24" width="96" height="24" aria-label="${said}">
    <path class="area" d="M1 22L${points.join('L')}L95 22Z" />
    <path class="line line-0" d="M${points.join('L')}" />
  </svg>`;
}

const blocks = '▁▂▃▄▅▆▇█';

/** The same for a terminal: a block for each value, from 0. */
export function textSparkline(values: readonly number[]): string {
  const highest = Math.max(0, ...values.filter(Number.isFinite)) || 1;
  return values
    .slice(-most)
    .map((value) => blocks[Math.min(7, Math.max(0, Math.round((value / highest) * 7)))] ?? blocks[0])
    .join('');
}

/** A share as a bar of ten blocks for a terminal, full at 1 alone. */
export function textBar(share: number): string {
  const filled = Number.isFinite(share) ? Math.floor(Math.min(1, Math.max(0, share)) * 10 + 1e-9) : 0;
  return `${'█'.repeat(filled)}${'░'.repeat(10 - filled)}`;
}
