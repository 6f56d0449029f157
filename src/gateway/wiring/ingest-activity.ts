import type { OrganizationId } from '../../contract/core/index.ts';
import type { Finding } from '../../contract/telemetry/index.ts';
import type { Storage } from '../../contract/storage/index.ts';
import { readActivity } from '../../telemetry/ingest/activity.ts';
import type { IngestActivity } from '../../web/services.ts';

interface Place {
  readonly storage: Storage;
  readonly foundation: { readonly dataDirectory: string; readonly now: () => Date };
}

/** What had no valid token is shown to an organization only if it is the only one: it may be another's. */
export async function organizationActivity(
  { storage, foundation }: Place,
  id: OrganizationId,
): Promise<IngestActivity> {
  const { arrivals, refusals } = await readActivity(foundation.dataDirectory, foundation.now());
  const isAlone = (await storage.directory.organizations()).length === 1;
  const arrival = arrivals[id];
  return {
    arrival: arrival && { at: new Date(arrival.at), service: arrival.service },
    refusals: refusals
      .filter(({ organization }) => organization === id || (isAlone && organization === undefined))
      .map(({ reason, userAgent, count, last }) => ({ reason, userAgent, count, last: new Date(last) })),
  };
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
  const told = refusals.slice(0, mostTold).map(({ count, organization, reason, userAgent }) => {
    const whose = organization === undefined ? 'without a valid token' : `of ${organization}`;
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
