import type { AuditLog, Storage } from '../../src/contract/storage/index.ts';

/** A storage with an audit that writes each record by itself, and so leaves nothing to stop. */
export function recorded(storage: Storage): { readonly storage: Storage; readonly audit: AuditLog } {
  const reserve: AuditLog['reserveNow'] = (organizationId) => (record) => {
    storage
      .workspace(organizationId)
      .audit.append([record])
      .catch(() => undefined);
  };
  return { storage, audit: { reserve, reserveNow: reserve } };
}
