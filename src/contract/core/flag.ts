import { z } from 'zod';

/** Of a config: also `"true"` and `"false"`, as `${env:…}` gives them. */
export const flag = z.union([z.boolean(), z.stringbool()]);

/** Of a config: a whole number from `min` to `max`, also as text. */
export function wholeNumber(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max);
}
