import { SightlineError, toId, type IngestTokenId } from '../../../src/contract/core/index.ts';
import type { IngestToken, IngestTokenRepository, NewIngestToken } from '../../../src/contract/storage/index.ts';
import { OrganizationRepository } from './repository.ts';
import { date } from '../columns.ts';

export class IngestTokens extends OrganizationRepository implements IngestTokenRepository {
  create({ id, hash, sealed }: NewIngestToken): Promise<void> {
    return this.database.write(
      async (scope) => {
        const position = await scope.next('ingest_token');
        await scope.insert('ingest_tokens', { id, hash, sealed, position, created_at: this.now().getTime() });
      },
      { duplicate: new SightlineError('conflict', 'An ingest token with this id or hash exists already.') },
    );
  }

  current(): Promise<IngestToken | undefined> {
    return this.one(
      (scope) => scope.from('ingest_tokens').orderBy('position', 'desc').first(),
      (row) => ({ id: toId('it', row.id), hash: row.hash, sealed: row.sealed, createdAt: date(row.created_at) }),
    );
  }

  revoke(id: IngestTokenId): Promise<boolean> {
    return this.some((scope) => scope.from('ingest_tokens').where({ id }).delete());
  }
}
