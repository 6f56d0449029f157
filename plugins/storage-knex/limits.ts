import { foldCase, SightlineError } from '../../src/contract/core/index.ts';

/** Rows one call may ask for. Throws `invalid_argument` for anything but a whole number from 1 to 1,000. */
export function pageSize(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw new SightlineError('invalid_argument', 'limit must be a whole number from 1 to 1000.');
}

/** A short text of a column with a length. Throws `invalid_argument` when it is blank, too long or has control characters. */
export function shortText(what: string, value: string, maximum: number): string {
  // eslint-disable-next-line no-control-regex
  if (value.trim() !== '' && value.length <= maximum && !/[\u0000-\u001f\u007f]/.test(value)) return value;
  throw new SightlineError('invalid_argument', `${what} must have 1 to ${maximum} printable characters.`);
}

/** The text as it is compared, which for a few scripts is longer than what was typed. */
export function comparable(what: string, value: string, maximum: number): string {
  const key = foldCase(value);
  if (key.length <= maximum) return key;
  throw new SightlineError('invalid_argument', `${what} is too long.`);
}
