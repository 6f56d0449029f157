import { lifecycleContract } from './lifecycle.ts';
import type { Runner } from './runner.ts';
import { alertPromises } from './storage/alerts.ts';
import { auditPromises } from './storage/audit.ts';
import { chatPromises } from './storage/chats.ts';
import { clientPromises } from './storage/clients.ts';
import { deletedOrganizationPromises } from './storage/deleted-organizations.ts';
import { directoryPromises } from './storage/directory.ts';
import { durabilityPromises } from './storage/durability.ts';
import { grantPromises } from './storage/grants.ts';
import { incidentLifePromises } from './storage/incident-life.ts';
import { incidentPromises } from './storage/incidents.ts';
import { investigationPromises } from './storage/investigations.ts';
import { invitationPromises } from './storage/invitations.ts';
import { isolationPromises } from './storage/isolation.ts';
import { issuingPromises } from './storage/issuing.ts';
import { keptResultPromises } from './storage/kept-results.ts';
import { leavingPromises } from './storage/leaving.ts';
import { keyPromises } from './storage/keys.ts';
import { peoplePromises } from './storage/people.ts';
import { providedMembershipPromises } from './storage/provided-memberships.ts';
import { replicaPromises } from './storage/replicas.ts';
import { retentionPromises } from './storage/retention.ts';
import { scanPromises } from './storage/scans.ts';
import { scimPromises } from './storage/scim.ts';
import { sessionPromises } from './storage/sessions.ts';
import type { MakeStorage } from './storage/stage.ts';
import { webhookPromises } from './storage/webhooks.ts';
import { transferPromises } from './storage/transfer.ts';

export type { MakeStorage, StorageProcess, StorageUnderTest } from './storage/stage.ts';

/** The promises of every storage. `make` gives an empty store each time, to which several instances can be opened. */
export function storageContract(runner: Runner, make: MakeStorage): void {
  runner.describe('storage', () => {
    lifecycleContract(runner, async () => {
      const store = await make();
      return { component: store.open(), cleanup: () => store.cleanup() };
    });
    directoryPromises(runner, make);
    peoplePromises(runner, make);
    leavingPromises(runner, make);
    deletedOrganizationPromises(runner, make);
    providedMembershipPromises(runner, make);
    scimPromises(runner, make);
    sessionPromises(runner, make);
    invitationPromises(runner, make);
    grantPromises(runner, make);
    clientPromises(runner, make);
    issuingPromises(runner, make);
    keyPromises(runner, make);
    incidentPromises(runner, make);
    incidentLifePromises(runner, make);
    alertPromises(runner, make);
    chatPromises(runner, make);
    investigationPromises(runner, make);
    auditPromises(runner, make);
    scanPromises(runner, make);
    keptResultPromises(runner, make);
    retentionPromises(runner, make);
    webhookPromises(runner, make);
    replicaPromises(runner, make);
    transferPromises(runner, make);
    isolationPromises(runner, make);
    durabilityPromises(runner, make);
  });
}
