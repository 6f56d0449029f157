import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isId, type Logger, type OrganizationId } from '../../contract/core/index.ts';

/*
 * When telemetry last came in, and what was refused in the last hour: in memory, and in a small file of each worker for the
 * pages and `doctor`. What is kept of a refusal is bounded, since anybody can make one.
 */

const hourMs = 3600_000;
const saveMs = 5_000;
const sayMs = 60_000;
/** Of all organizations; the longest unseen goes first. Without a valid token there is one for each cause. */
const mostCauses = 1_000;
const mostOrganizations = 10_000;
const mostText = 200;

const refusal = z.object({
  /** Undefined where no valid token said whose it was. */
  organization: z.string().optional(),
  /** A status of HTTP, or what became of single records. */
  cause: z.string(),
  reason: z.string(),
  userAgent: z.string(),
  count: z.number(),
  first: z.number(),
  last: z.number(),
});
const arrival = z.object({
  at: z.number(),
  service: z.string(),
  /** From there until it could be queried, the last time that was measured. */
  lagMs: z.number().optional(),
});
const activity = z.object({ arrivals: z.record(z.string(), arrival), refusals: z.array(refusal) });
export type IngestActivity = z.infer<typeof activity>;
export type IngestRefusal = z.infer<typeof refusal>;

type Noted = IngestRefusal & { unsaid: number; saidAt: number };

export interface Refused {
  readonly organizationId?: OrganizationId | undefined;
  readonly cause: string;
  readonly reason: string;
  readonly userAgent: string | undefined;
  /** Records, or requests. */
  readonly count?: number;
}

export class ActivityLog {
  readonly #directory: string;
  readonly #file: string;
  readonly #logger: Logger;
  readonly #now: () => Date;
  readonly #lagMs: (organizationId: OrganizationId) => number | undefined;
  readonly #arrivals = new Map<OrganizationId, z.infer<typeof arrival>>();
  readonly #refusals = new Map<string, Noted>();
  #save: NodeJS.Timeout | undefined;
  #say: NodeJS.Timeout | undefined;

  /** @param lagMs how long what an organization sent waited to be queryable, the last time. */
  constructor(
    dataDirectory: string,
    worker: number,
    logger: Logger,
    now: () => Date,
    lagMs: (organizationId: OrganizationId) => number | undefined = () => undefined,
  ) {
    this.#directory = activityDirectory(dataDirectory);
    this.#file = join(this.#directory, `${worker}.json`);
    this.#logger = logger;
    this.#now = now;
    this.#lagMs = lagMs;
  }

  async start(): Promise<void> {
    const before = await readFileOf(this.#file);
    for (const [id, entry] of Object.entries(before.arrivals)) if (isId('org', id)) this.#arrivals.set(id, entry);
    this.#say = setInterval(() => this.#sayAll(), sayMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#say);
    this.#sayAll();
    clearTimeout(this.#save);
    if (this.#save !== undefined) await this.#write();
  }

  arrived(organizationId: OrganizationId, service: string): void {
    const known = this.#arrivals.get(organizationId);
    const entry = { ...known, at: this.#now().getTime(), service: clean(service) || (known?.service ?? '') };
    put(this.#arrivals, organizationId, entry, mostOrganizations);
    this.#later();
  }

  /** Told to the log at once, and then once a minute for each cause of an organization. */
  refused({ organizationId, cause, reason, userAgent, count = 1 }: Refused): void {
    const now = this.#now().getTime();
    const key = `${organizationId ?? ''} ${cause}`;
    const known = this.#refusals.get(key);
    const isOld = known === undefined || now - known.last > hourMs;
    const noted: Noted = {
      ...(organizationId && { organization: organizationId }),
      cause: clean(cause),
      reason: clean(reason),
      userAgent: clean(userAgent ?? ''),
      // An hour after the first of them the count begins again: a cause that goes on is seen by its last time.
      count: count + (isOld || now - known.first > hourMs ? 0 : known.count),
      first: isOld || now - known.first > hourMs ? now : known.first,
      last: now,
      unsaid: count + (known?.unsaid ?? 0),
      saidAt: known?.saidAt ?? -Infinity,
    };
    put(this.#refusals, key, noted, mostCauses);
    if (performance.now() - noted.saidAt >= sayMs) this.#sayOne(noted);
    this.#later();
  }

  forget(organizationId: OrganizationId): void {
    this.#arrivals.delete(organizationId);
    for (const [key, { organization }] of this.#refusals)
      if (organization === organizationId) this.#refusals.delete(key);
    this.#later();
  }

  #sayAll(): void {
    for (const noted of this.#refusals.values()) if (noted.unsaid > 0) this.#sayOne(noted);
  }

  #sayOne(noted: Noted): void {
    const { organization, cause, reason, userAgent, unsaid: count } = noted;
    noted.unsaid = 0;
    noted.saidAt = performance.now();
    this.#logger.warn({ organization, cause, reason, userAgent, count }, 'telemetry was not taken as it came');
  }

  #later(): void {
    this.#save ??= setTimeout(() => {
      this.#save = undefined;
      void this.#write();
    }, saveMs).unref();
  }

  async #write(): Promise<void> {
    const since = this.#now().getTime() - hourMs;
    const refusals = [...this.#refusals.values()].filter(({ last }) => last >= since);
    for (const [id, entry] of this.#arrivals) {
      const lagMs = this.#lagMs(id);
      if (lagMs !== undefined) this.#arrivals.set(id, { ...entry, lagMs });
    }
    const content: IngestActivity = { arrivals: Object.fromEntries(this.#arrivals), refusals };
    try {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await writeFile(`${this.#file}.part`, JSON.stringify(activity.parse(content)), { mode: 0o600 });
      await rename(`${this.#file}.part`, this.#file);
    } catch (error) {
      this.#logger.debug({ error }, 'what telemetry came in could not be written down');
    }
  }
}

/** Of all workers on the data directory, the newest first; up to five seconds old. */
export async function readActivity(dataDirectory: string, now: Date): Promise<IngestActivity> {
  const directory = activityDirectory(dataDirectory);
  const names = await readdir(directory).catch(() => []);
  const all = await Promise.all(
    names.filter((name) => name.endsWith('.json')).map((name) => readFileOf(join(directory, name))),
  );
  const arrivals: IngestActivity['arrivals'] = {};
  for (const [id, entry] of all.flatMap((one) => Object.entries(one.arrivals))) {
    if (entry.at > (arrivals[id]?.at ?? -Infinity)) arrivals[id] = entry;
  }
  const since = now.getTime() - hourMs;
  const refusals = all.flatMap((one) => one.refusals).filter(({ last }) => last >= since);
  return { arrivals, refusals: refusals.toSorted((one, other) => other.last - one.last) };
}

async function readFileOf(file: string): Promise<IngestActivity> {
  try {
    return activity.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return { arrivals: {}, refusals: [] };
  }
}

function activityDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'run', 'ingest');
}

/** As the newest; the oldest makes room. */
function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

/** A sender's text, for one line. */
function clean(text: string): string {
  return text
    .slice(0, mostText)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .toWellFormed()
    .trim();
}
