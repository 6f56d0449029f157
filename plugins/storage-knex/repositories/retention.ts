import type { RetentionRepository } from '../../../src/contract/index.ts';
import type { ScopedDatabase } from '../database.ts';

const recordsAtOnce = 500;
/** With their messages, of which there may be hundreds. */
const chatsAtOnce = 20;

export class Retention implements RetentionRepository {
  readonly #database: ScopedDatabase;

  constructor(database: ScopedDatabase) {
    this.#database = database;
  }

  async removeAudit(before: Date): Promise<number> {
    const old = await this.#database.read((scope) =>
      scope
        .from('audit')
        .where('at', '<', before.getTime())
        .orderBy(['at', 'id'].map((column) => ({ column })))
        .limit(recordsAtOnce)
        .pluck('id'),
    );
    if (old.length === 0) return 0;
    return this.#database.write((scope) => scope.from('audit').whereIn('id', old).delete());
  }

  async removeChats(before: Date): Promise<number> {
    return this.#database.write(async (scope) => {
      const old: string[] = await scope
        .from('chats')
        .whereIn('status', ['completed', 'failed', 'cancelled'])
        .where('updated_at', '<', before.getTime())
        .orderBy('updated_at')
        .limit(chatsAtOnce)
        .pluck('id');
      if (old.length === 0) return 0;
      const investigations = () => scope.from('investigations').whereIn('chat_id', old);
      await investigations().whereNotNull('incident_id').update({ chat_id: null });
      await investigations().delete();
      await scope.from('chat_requests').whereIn('chat_id', old).delete();
      return scope.from('chats').whereIn('id', old).delete();
    });
  }
}
