import { z } from 'zod';
import { SightlineError } from './errors.ts';

const mostAlerts = 1_000;

/** A body, or a part of it at `path`, by its schema. Throws `invalid_argument` with the place of what is wrong and none of its text. */
export function readAlertBody<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: readonly (string | number)[] = [],
): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const place = [...path, ...(issue?.path ?? [])]
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '');
  throw new SightlineError('invalid_argument', `${place || 'The body'}: ${issue?.message ?? 'wrong'}.`);
}

/** A list of at most 1,000 alerts, each by the schema. Throws `invalid_argument` as `readAlertBody` does. */
export function readAlerts<Schema extends z.ZodType>(
  schema: Schema,
  list: unknown,
  path: readonly (string | number)[],
): readonly z.output<Schema>[] {
  const alerts = readAlertBody(
    z.array(z.unknown()).max(mostAlerts, `more than ${mostAlerts} alerts in one request`),
    list,
    path,
  );
  return alerts.map((alert, index) => readAlertBody(schema, alert, [...path, index]));
}
