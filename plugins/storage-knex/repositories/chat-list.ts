import type { Chat, ChatFilter, Page } from '../../../src/contract/storage/index.ts';
import { newestFirst, page } from '../paging.ts';
import type { Scope } from '../scope.ts';
import { matchesWords } from '../search.ts';
import { toChat } from './chat-rows.ts';

/** Most recently changed first. */
export function listChats(scope: Scope, { limit, cursor, ...filter }: ChatFilter): Promise<Page<Chat>> {
  return page(
    {
      limit,
      cursor,
      listing: ['chats', scope.organizationId, normalized(filter)],
      position: (row) => ({ time: row.updated_at, id: row.id }),
      rows: async (after, size) => newestFirst(matching(scope, filter), { time: 'updated_at', id: 'id' }, after, size),
    },
    toChat,
  );
}

type Filter = Omit<ChatFilter, 'limit' | 'cursor'>;

function matching(scope: Scope, filter: Filter) {
  const query = scope.from('chats');
  if (filter.statuses !== undefined) query.whereIn('status', [...filter.statuses]);
  if (filter.createdBy !== undefined) query.where('created_by_id', filter.createdBy);
  if (filter.incidentId !== undefined) query.where('incident_id', filter.incidentId);
  for (const word of filter.query === undefined ? [] : matchesWords(scope, 'search_text', filter.query)) {
    query.where(word);
  }
  return query;
}

function normalized(filter: Filter): readonly unknown[] {
  return [filter.statuses?.toSorted(), filter.createdBy, filter.incidentId, filter.query];
}
