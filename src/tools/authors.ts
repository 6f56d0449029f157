import { isId } from '../contract/core/index.ts';
import type { Principal } from '../contract/issuer/index.ts';
import type { Actor, Workspace } from '../contract/storage/index.ts';

/** The principal as the author of what it writes: a person by e-mail, a key by the name an admin gave it. */
export async function authorOf(principal: Principal, workspace: Workspace): Promise<Actor> {
  const { kind, subject } = principal;
  if (kind === 'user') return { kind, id: subject, name: principal.email ?? subject };
  const key = isId('ak', subject) ? await workspace.keys.get(subject) : undefined;
  return { kind, id: subject, name: key?.name ?? subject };
}
