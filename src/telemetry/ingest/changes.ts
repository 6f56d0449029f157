import { z } from 'zod';
import {
  hashSecret,
  isObject,
  issueText,
  issueWords,
  parseJson,
  type OrganizationId,
} from '../../contract/core/index.ts';
import { nestsDeeperThan } from '../../contract/core/json.ts';
import { OtlpRefusal, type Stored } from './answers.ts';

/*
 * A deploy or a turned flag, as a script or a webhook reports it, becomes the log event that its sender could have sent by OTLP:
 * attributes of the semantic conventions for deployments and feature flags.
 */

export const changeLimits = { bytes: 256 * 1024, depth: 64 } as const;

/** Templates leave '' where they have nothing. */
function maybe<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional());
}

// These words end up in answers.
const text = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, 'has control characters');
const address = z
  .url({ protocol: /^https?$/, error: 'is no http address' })
  .max(2000)
  .refine((url) => !URL.canParse(url) || new URL(url).password === '', 'has a password in it');
const inPlace = 'send milliseconds since 1970, or RFC 3339';
/** As seconds the first is of the year 5138, as milliseconds of 1973; the second is that in microseconds. */
const milliseconds = z
  .int()
  .positive()
  .refine((time) => time >= 1e11, `looks like seconds; ${inPlace}`)
  .refine((time) => time < 1e14, `looks like micro- or nanoseconds; ${inPlace}`);
const time = z.union([z.iso.datetime({ offset: true }).transform((at) => Date.parse(at)), milliseconds], {
  error: 'is neither RFC 3339 nor milliseconds since 1970',
});

const common = {
  service: maybe(text),
  environment: maybe(text),
  time: maybe(time),
  url: maybe(address),
  who: maybe(text),
  /** A second report of the same id is the same change. */
  id: maybe(text),
};
const changeShape = z.discriminatedUnion('what', [
  z.strictObject({
    ...common,
    what: z.literal('deploy'),
    service: text,
    version: maybe(text),
    status: maybe(z.enum(['started', 'succeeded', 'failed'])),
  }),
  z.strictObject({
    ...common,
    what: z.literal('flag'),
    flag: text,
    value: maybe(z.union([text, z.boolean(), z.number()]).transform(String)),
    provider: maybe(text),
  }),
]);
export type Change = z.output<typeof changeShape>;

/** What LaunchDarkly's webhooks send, an entry of its audit log, as far as it is read. */
const auditEntry = z
  .object({
    _id: z.string(),
    kind: z.string(),
    date: z.coerce.number(),
    name: z.string().optional(),
    titleVerb: z.string().optional(),
    accesses: z.array(z.object({ action: z.string(), resource: z.string() })).default([]),
    member: z.object({ email: z.string() }).nullish().catch(undefined),
    _links: z
      .object({ site: z.object({ href: z.string() }) })
      .optional()
      .catch(undefined),
  })
  .transform(({ _id, kind, date, name, titleVerb = '', accesses, member, _links }) => {
    if (kind !== 'flag') return;
    // proj/shop:env/production;tag:flag/new-checkout;tag
    const part = (of: string) =>
      accesses.map(({ resource }) => new RegExp(`(?:^|:)${of}/([^:;*]+)`).exec(resource)?.[1]).find(Boolean);
    const site = _links && URL.parse(_links.site.href, 'https://app.launchdarkly.com')?.href;
    return {
      what: 'flag',
      flag: part('flag') ?? name,
      value: /\bturned (on|off)\b/.exec(titleVerb)?.[1],
      environment: part('env'),
      provider: 'launchdarkly',
      time: date,
      url: site,
      who: member?.email,
      id: _id,
    };
  });

/** The change in a body; undefined for a message of LaunchDarkly that is about no flag. Throws a refusal. */
export function readChange(body: Buffer): Change | undefined {
  const json = nestsDeeperThan(body, changeLimits.depth) ? undefined : parseJson(body.toString('utf8'));
  if (!isObject(json)) throw new OtlpRefusal(400, 'The body is no JSON object.', {}, 'body');
  const isAuditEntry = !('what' in json) && '_id' in json && 'kind' in json;
  const given: unknown = isAuditEntry ? checked(auditEntry, json) : json;
  return given === undefined ? undefined : checked(changeShape, given);
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value, issueWords);
  if (read.success) return read.data;
  const { issues } = read.error;
  const problems = issues.slice(0, 5).map((issue) => issueText(issue));
  const kind = `${String(issues[0]?.path[0] ?? 'body')} ${issues[0]?.code}`;
  throw new OtlpRefusal(400, `This is no change that can be kept. ${problems.join('; ')}.`, {}, kind);
}

/** As OTLP/JSON logs. */
export function changeEvent(change: Change, nowMs: number): Buffer {
  const { service, environment, time = nowMs, url, who, id } = change;
  const isDeploy = change.what === 'deploy';
  const own = isDeploy
    ? { 'deployment.id': id, 'deployment.status': change.status }
    : {
        'feature_flag.key': change.flag,
        'feature_flag.result.value': change.value,
        'feature_flag.provider.name': change.provider,
        'log.record.uid': id,
      };
  const where = environment === undefined ? '' : ` in ${environment}`;
  const body = isDeploy
    ? `Deploy of ${[service, change.version].filter(Boolean).join(' ')}${where}`
    : `Flag ${change.flag} changed${change.value === undefined ? '' : ` to ${change.value}`}${where}`;
  const record = {
    timeUnixNano: `${time}000000`,
    observedTimeUnixNano: `${nowMs}000000`,
    severityNumber: 9,
    severityText: 'INFO',
    eventName: isDeploy ? 'deployment' : 'feature_flag.change',
    body: { stringValue: body },
    attributes: keyValues({ ...own, 'url.full': url, 'user.name': who }),
  };
  const resource = {
    attributes: keyValues({
      'service.name': service,
      'service.version': isDeploy ? change.version : undefined,
      'deployment.environment.name': environment,
    }),
  };
  return Buffer.from(
    JSON.stringify({
      resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'sightline.changes' }, logRecords: [record] }] }],
    }),
  );
}

function keyValues(attributes: Readonly<Record<string, string | undefined>>) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: { stringValue: value } }],
  );
}

/** Stores the change in a body by `store`, as the log event that it is; answers what its sender is told. */
export async function storeChange(
  once: OnceById,
  organizationId: OrganizationId,
  body: Buffer,
  nowMs: number,
  store: (event: Buffer) => Promise<Stored>,
): Promise<object> {
  const change = readChange(body);
  if (change === undefined) return { stored: false, reason: 'This message is about no flag.' };
  const said = JSON.stringify([organizationId, { ...change, time: undefined }]);
  const key = change.id === undefined ? undefined : hashSecret(said);
  let warning = '';
  const isNew = await once.store(key, async () => {
    const { rejected, reasons, altered } = await store(changeEvent(change, nowMs));
    if (rejected > 0) {
      // Behind the semicolon is advice for OTLP, which wants nanoseconds.
      const [reason = 'rejected'] = reasons[0]?.[0].split(';', 1) ?? [];
      throw new OtlpRefusal(400, `The change was not stored: ${reason}.`, {}, reason);
    }
    warning = altered;
  });
  return { stored: true, ...(!isNew && { repeated: true }), ...(warning !== '' && { warning }) };
}

/** Stores what has an id once, as far as this process remembers. */
export class OnceById {
  readonly #stored = new Map<string, Promise<void>>();
  readonly #most: number;

  constructor(most = 10_000) {
    this.#most = most;
  }

  /** Answers false for a repetition, once the first is stored. */
  async store(key: string | undefined, store: () => Promise<void>): Promise<boolean> {
    if (key === undefined) return store().then(() => true);
    const known = this.#stored.get(key);
    if (known !== undefined) return known.then(() => false);
    const storing = store();
    this.#stored.set(key, storing);
    try {
      await storing;
    } catch (error) {
      this.#stored.delete(key);
      throw error;
    }
    for (const [oldest] of this.#stored) {
      if (this.#stored.size <= this.#most) break;
      this.#stored.delete(oldest);
    }
    return true;
  }
}
