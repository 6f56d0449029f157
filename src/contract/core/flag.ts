import { z } from 'zod';

/** Of a config: also `"true"` and `"false"`, as `${env:…}` gives them. */
export const flag = z.union([z.boolean(), z.stringbool()]);
