import { z } from 'zod';
import { SightlineError, issueWords, problemAt } from '../../contract/core/index.ts';
import { incidentStatuses, severities, waitingParties, type NewIncident } from '../../contract/storage/index.ts';
import { operator, orgCommand, orgShape } from '../command.ts';
import { readInput } from '../ingest.ts';
import { actOnIncidents, defined, type Add } from './common.ts';

export const importFile: Add = (group, output) => {
  const command = orgCommand(
    group,
    'import <file>',
    'create incidents from a JSON array; the whole file is checked first',
  );
  actOnIncidents(command, output, orgShape, async ({ incidents }, { operands: [file = ''] }) => {
    const keys: string[] = [];
    for (const incident of parseIncidents(readInput(file), file)) {
      keys.push((await incidents.create(incident, operator())).key);
    }
    output.result({ imported: keys.length, keys }, () => `Imported ${keys.length}: ${keys.join(', ')}`);
  });
};

const text = (longest: number) => z.string().min(1).max(longest);
const title = text(500).regex(/\S/, 'is blank');
const time = z.iso.datetime({ offset: true }).transform((value) => new Date(value));
const labels = z
  .record(text(200), z.string().max(2_000))
  .refine((map) => Object.keys(map).length <= 100, 'at most 100 labels');

const alert = z.strictObject({
  fingerprint: text(500),
  title,
  status: z.enum(['firing', 'resolved']),
  severity: z.enum(severities),
  starts_at: time,
  ends_at: time.optional(),
  labels: labels.default({}),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .optional(),
});

/** One incident of an import file: NewIncident in snake_case. Strict: a misspelt field is an error with its place. */
const incident = z.strictObject({
  title,
  summary: z.string().max(20_000).optional(),
  status: z.enum(incidentStatuses).optional(),
  severity: z.enum(severities),
  waiting_on: z
    .strictObject({ party: z.enum(waitingParties), name: text(320).optional(), reason: text(2_000).optional() })
    .optional(),
  services: z.array(text(200)).max(100).optional(),
  environment: z.string().max(200).optional(),
  source: text(100).default('import'),
  fingerprint: text(500).optional(),
  labels: labels.optional(),
  assignee: text(320).optional(),
  alerts: z.array(alert).max(200).optional(),
  started_at: time,
  detected_at: time.optional(),
  document: z.string().max(500_000).optional(),
});

const file = z.array(incident).min(1).max(10_000);

/** Reads an import file whole; throws `invalid_argument` naming every place that is wrong (the first ten). */
export function parseIncidents(content: string, name: string): readonly NewIncident[] {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    const where = cause instanceof Error ? cause.message : 'broken';
    throw new SightlineError('invalid_argument', `${name} is not JSON: ${where}.`, { cause });
  }
  const parsed = file.safeParse(value, issueWords);
  if (!parsed.success) {
    const places = parsed.error.issues.slice(0, 10).map((issue) => `  ${place(issue)}`);
    const more = parsed.error.issues.length > 10 ? `\n  and ${parsed.error.issues.length - 10} more` : '';
    throw new SightlineError(
      'invalid_argument',
      `${name} cannot be imported; nothing was written:\n${places.join('\n')}${more}`,
    );
  }
  return parsed.data.map(toNewIncident);
}

function toNewIncident(given: z.output<typeof incident>): NewIncident {
  const { waiting_on, alerts, started_at, detected_at, ...rest } = given;
  return defined({
    ...rest,
    startedAt: started_at,
    detectedAt: detected_at,
    waitingOn: waiting_on && defined(waiting_on),
    alerts: alerts?.map(({ starts_at, ends_at, ...each }) =>
      defined({ ...each, startsAt: starts_at, endsAt: ends_at }),
    ),
  });
}

function place({ path, message }: z.core.$ZodIssue): string {
  return problemAt(path.length === 0 ? [] : ['incidents', ...path], message, 'the file');
}
