import type { KeyId } from '../../../contract/core/index.ts';
import type { Scope } from '../../../contract/issuer/index.ts';
import { scopeWords } from '../../scope-words.ts';

/** A key writes in its own name. */
export const keyScopeWords: typeof scopeWords = {
  ...scopeWords,
  'chats:write': {
    title: 'Write in chats',
    detail: 'Ask the agent, which then works, and reply to it.',
  },
} satisfies Record<Scope, unknown>;

/** What a secret that is shown once belongs to. */
export function about(id: KeyId): string {
  return `key:${id}`;
}
