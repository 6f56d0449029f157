import type { OrganizationId } from '../../contract/core/index.ts';
import type { Role } from '../../contract/issuer/index.ts';
import type { Finding, TelemetrySink } from '../../contract/telemetry/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import { readActivity, type IngestActivity as Recorded } from '../../telemetry/ingest/activity.ts';
import { isRuled, type GovernanceRule } from '../../telemetry/query/governance.ts';
import type { IngestActivity } from '../../web/services.ts';

interface Place {
  readonly storage: Storage;
  readonly sink: Pick<TelemetrySink, 'atOnce'> | undefined;
  readonly foundation: {
    readonly dataDirectory: string;
    readonly now: () => Date;
    readonly config: { readonly governance: { readonly rules: readonly GovernanceRule[] } };
  };
}

/** For a person of this role. What had no valid token is shown to an organization only if it is the only one: it may be another's. */
export async function organizationActivity(
  { storage, sink, foundation }: Place,
  id: OrganizationId,
  role: Role,
): Promise<IngestActivity> {
  const now = foundation.now();
  const { arrivals, refusals } = await readActivity(foundation.dataDirectory, now);
  const isAlone = (await storage.directory.organizations()).length === 1;
  const { at, service, ...arrival } = arrivals[id] ?? {};
  const isRead = !isRuled('service_name', { kind: 'user', role }, foundation.config.governance.rules);
  return {
    arrival: at === undefined ? undefined : { ...arrival, at: new Date(at), ...(isRead && { service }) },
    refusals: refusals
      .filter(({ organization }) => organization === id || (isAlone && organization === undefined))
      .map(({ reason, userAgent, count, last }) => ({ reason, userAgent, count, last: new Date(last) })),
    crowded: senders(arrivals, now) > (sink?.atOnce ?? Infinity) ? late : undefined,
  };
}

const late =
  'More organizations send at once than this gateway has engines for, so that what is sent can be queried ten seconds later, or more.';
const sendingMs = 60_000;

function senders(arrivals: Recorded['arrivals'], now: Date): number {
  return Object.values(arrivals).filter(({ at }) => at > now.getTime() - sendingMs).length;
}

/** Of a sink that loads the rows of so many organizations at once. */
export async function crowdingFinding(dataDirectory: string, atOnce: number): Promise<Omit<Finding, 'check'>> {
  const now = new Date();
  const count = senders((await readActivity(dataDirectory, now)).arrivals, now);
  const detail = `${count} organization${count === 1 ? '' : 's'} sent within a minute; engines open at once: ${atOnce} at most`;
  if (count <= atOnce) return { status: 'ok', detail };
  const hint = 'Raise telemetry.openEngines where there is memory for more, or serve ClickHouse or PostgreSQL.';
  return { status: 'warn', detail: `${detail}. Rows of the others can be queried ten seconds later, or more`, hint };
}

const mostTold = 5;

/** For the operator: of all organizations. */
export async function activityFinding(dataDirectory: string): Promise<Omit<Finding, 'check'>> {
  const { arrivals, refusals } = await readActivity(dataDirectory, new Date());
  const newest = Object.values(arrivals).toSorted((one, other) => other.at - one.at)[0];
  const came =
    newest === undefined
      ? 'no telemetry came in yet'
      : `last came in ${new Date(newest.at).toISOString()} from ${newest.service || 'a service without a name'}`;
  if (refusals.length === 0) return { status: 'ok', detail: `${came}; nothing refused in the last hour` };
  const told = refusals.slice(0, mostTold).map(({ count, organization, cause, reason, userAgent }) => {
    const nobodys = cause.startsWith('HTTP 401') ? 'without a valid token' : 'before a token was read';
    const whose = organization === undefined ? nobodys : `of ${organization}`;
    return `${count} ${whose}, by ${userAgent || 'a sender without a name'}: ${reason}`;
  });
  const more = refusals.length > mostTold ? ` And ${refusals.length - mostTold} causes more.` : '';
  const count = refusals.reduce((sum, one) => sum + one.count, 0);
  return {
    status: 'warn',
    detail: `${came}; ${count} refused or altered in the last hour`,
    hint: `${told.join('\n')}${more}`,
  };
}
