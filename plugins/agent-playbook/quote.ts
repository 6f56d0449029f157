export { code, fenced } from '../../src/contract/core/index.ts';

export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2)} %`;
}

export function milliseconds(nanoseconds: number): string {
  const value = nanoseconds / 1e6;
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${value >= 10 ? value.toFixed(0) : value.toFixed(1)} ms`;
}

/** `2026-11-21 14:05 UTC` */
export function moment(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
