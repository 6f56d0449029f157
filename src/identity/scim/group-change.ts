import { z } from 'zod';
import { isId, type ScimUserId } from '../../contract/core/index.ts';
import type { ScimGroupChange } from '../../contract/storage/index.ts';
import { invalid, operationsOf } from './patch.ts';
import { attributeOf, readResource, type Json } from './schema.ts';

const member = z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]);
const members = z.union([member.transform((one) => [one]), z.array(member).max(5_000)]);

/** All of a group's operations as one change, so that two that add members at once lose none. */
export function patchGroup(message: unknown): Omit<ScimGroupChange, 'id'> {
  const names: Json = {};
  let replace: readonly ScimUserId[] | undefined;
  const add = new Set<ScimUserId>();
  const drop = new Set<ScimUserId>();
  for (const { op, path, value } of operationsOf(message)) {
    const [, attribute = '', chosen] =
      /^(?:urn:[\w:.-]+:Group:)?(\w+)(?:\[value\s+eq\s+"([^"\\]*)"\])?$/i.exec(path) ?? [];
    const { name } = attributeOf('Group', attribute === '' ? path : attribute);
    if (name === 'id' || name === 'schemas' || name === 'meta') continue;
    if (name !== 'members') {
      names[name] = op === 'remove' ? null : value;
      continue;
    }
    const ids = memberIds(chosen ?? value);
    if (op === 'replace' || (op === 'remove' && ids === undefined)) {
      replace = op === 'replace' ? (ids ?? []) : [];
      add.clear();
      drop.clear();
    } else if (op === 'add') {
      for (const id of ids ?? []) if (add.add(id)) drop.delete(id);
    } else {
      for (const id of ids ?? []) if (drop.add(id)) add.delete(id);
    }
  }
  const { displayName, externalId } = names;
  if (displayName === null || (displayName !== undefined && typeof displayName !== 'string')) {
    throw invalid('displayName is a text');
  }
  if (externalId !== undefined && externalId !== null && typeof externalId !== 'string') {
    throw invalid('externalId is a text');
  }
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(externalId === undefined ? {} : { externalId }),
    ...(replace === undefined ? {} : { replace }),
    add: [...add],
    remove: [...drop],
  };
}

/** A group as a whole. */
export function wholeGroup(sent: Json): Required<Pick<ScimGroupChange, 'displayName' | 'externalId' | 'replace'>> {
  const { displayName, externalId, members: listed } = readResource('Group', sent);
  if (typeof displayName !== 'string') throw invalid('A group needs a displayName');
  return {
    displayName,
    externalId: typeof externalId === 'string' ? externalId : null,
    replace: memberIds(listed ?? []) ?? [],
  };
}

function memberIds(value: unknown): readonly ScimUserId[] | undefined {
  if (value === undefined || value === null) return undefined;
  const parsed = members.safeParse(value);
  if (!parsed.success)
    throw invalid('members is a list of at most 5000 objects with a value, which is the id of a user');
  return parsed.data.map((id) => {
    if (isId('scu', id)) return id;
    throw invalid('A member of a group is named by the id of a user');
  });
}
