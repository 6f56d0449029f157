import { auditOperations } from './audit.ts';
import { ingestOperations, keyOperations, scimTokenOperations } from './credentials.ts';
import type { Operation } from './operation.ts';
import { organizationOperations } from './organizations.ts';
import { peopleOperations } from './people.ts';
import { alertSourceOperations, webhookOperations } from './senders.ts';

/** All that the admin interface does. */
export const operations = {
  ...organizationOperations,
  ...peopleOperations,
  ...keyOperations,
  ...ingestOperations,
  ...scimTokenOperations,
  ...alertSourceOperations,
  ...webhookOperations,
  ...auditOperations,
} as const;

/** With its id, which is in the OpenAPI document and in the audit. */
export type NamedOperation = Operation & { readonly id: string };

export const allOperations: readonly NamedOperation[] = Object.entries(operations).map(([id, operation]) =>
  Object.assign({ id }, operation),
);

/** Of the request, `{organization}` and names of the input in braces. */
export function routeOf({ of, path }: Pick<Operation, 'of' | 'path'>): string {
  return of === 'organization' ? `/organizations/{organization}${path}` : path;
}

export function placesOf(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}
