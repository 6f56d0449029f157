import { z } from 'zod';
import { incidentStatuses, severities, waitingParties } from '../../src/contract/index.ts';

/** Words a column may hold. One that is not among them is damage, and reading it throws. */
export const roleColumn = z.enum(['admin', 'member']);
export const incidentStatusColumn = z.enum(incidentStatuses);
export const severityColumn = z.enum(severities);
export const waitingPartyColumn = z.enum(waitingParties);
export const chatStatusColumn = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']);
export const messageRoleColumn = z.enum(['user', 'agent', 'system']);
export const investigationStatusColumn = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled']);
export const signingStateColumn = z.enum(['next', 'current', 'retired']);
export const auditEventColumn = z.enum([
  'tool.call',
  'token.issued',
  'key.created',
  'key.rotated',
  'key.retired',
  'key.revoked',
  'grant.created',
  'grant.revoked',
  'person.signed_in',
  'person.invited',
  'person.joined',
  'person.disabled',
  'person.enabled',
  'invitation.revoked',
  'member.role_changed',
  'member.removed',
  'password.changed',
  'ingest_token.created',
  'ingest_token.revoked',
]);
