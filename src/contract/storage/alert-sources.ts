import type { AlertSourceId, OrganizationId } from '../core/ids.ts';

/** Somebody who sends alerts to an organization, at an address of their own. */
export interface AlertSource {
  readonly id: AlertSourceId;
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** The name of the alert plugin that understands what is sent. */
  readonly plugin: string;
  /** The secret, sealed by the vault under context `alert-source:<id>`. */
  readonly sealed: string;
  readonly createdAt: Date;
  readonly createdBy: string;
}

export type NewAlertSource = Pick<AlertSource, 'id' | 'name' | 'plugin' | 'sealed' | 'createdBy'>;

export interface AlertSourceRepository {
  /** `conflict` where the organization has a source of this name (compared without case), or as many as it may have. */
  create(input: NewAlertSource): Promise<AlertSource>;
  /** Oldest first. */
  list(): Promise<readonly AlertSource[]>;
  /** False when the organization has no such source. */
  replaceSecret(id: AlertSourceId, sealed: string): Promise<boolean>;
  /** Its alerts stay where they are. False when there was none. */
  remove(id: AlertSourceId): Promise<boolean>;
}
