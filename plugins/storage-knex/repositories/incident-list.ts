import { foldCase } from '../../../src/contract/core/index.ts';
import { openStatuses, waitingParties } from '../../../src/contract/storage/index.ts';
import type { Incident, IncidentFilter, IncidentStatus, Page } from '../../../src/contract/storage/index.ts';
import { newestFirst, page } from '../paging.ts';
import type { Scope } from '../scope.ts';
import { matchesWords } from '../search.ts';
import { serviceHash, toIncident } from './incident-rows.ts';

/** Newest start first. Values of one filter are alternatives; filters together all hold. */
export function listIncidents(scope: Scope, { limit, cursor, ...filter }: IncidentFilter): Promise<Page<Incident>> {
  return page(
    {
      limit,
      cursor,
      listing: ['incidents', scope.organizationId, normalized(filter)],
      position: (row) => ({ time: row.started_at, id: row.id }),
      rows: async (after, size) =>
        newestFirst(matching(scope, filter), { time: 'started_at', id: 'incidents.id' }, after, size),
    },
    toIncident,
  );
}

type Filter = Omit<IncidentFilter, 'limit' | 'cursor'>;

function matching(scope: Scope, filter: Filter) {
  const query = scope.from('incidents');
  if (filter.statuses !== undefined) query.whereIn('status', [...statuses(filter.statuses)]);
  if (filter.severities !== undefined) query.whereIn('severity', [...filter.severities]);
  if (filter.waitingOn !== undefined) {
    const parties = filter.waitingOn.filter((value) => waitingParties.some((party) => party === value));
    const names = filter.waitingOn.filter((value) => !parties.includes(value)).map(foldCase);
    query.where((either) => void either.whereIn('waiting_party', parties).orWhereIn('waiting_key', names));
  }
  if (filter.service !== undefined) {
    const having = scope
      .from('incident_services')
      .where({ service_hash: serviceHash(filter.service) })
      .select('incident_id');
    query.whereIn('incidents.id', having);
  }
  for (const word of filter.query === undefined ? [] : matchesWords(scope, 'search_text', filter.query)) {
    query.where(word);
  }
  if (filter.since !== undefined) query.where('started_at', '>=', filter.since.getTime());
  if (filter.until !== undefined) query.where('started_at', '<', filter.until.getTime());
  return query;
}

function statuses(filter: NonNullable<Filter['statuses']>): ReadonlySet<IncidentStatus> {
  return new Set(filter.flatMap((status) => (status === 'open' ? openStatuses : [status])));
}

/** The filter in one spelling, for the cursor to be bound to. */
function normalized(filter: Filter): readonly unknown[] {
  return [
    filter.statuses?.toSorted(),
    filter.severities?.toSorted(),
    filter.waitingOn?.toSorted(),
    filter.service,
    filter.query,
    filter.since?.getTime(),
    filter.until?.getTime(),
  ];
}
