import { z } from 'zod';
import {
  alertStatuses,
  auditEvents,
  incidentStatuses,
  resolutions,
  severities,
  waitingParties,
  webhookEvents,
} from '../../src/contract/storage/index.ts';

/** Words a column may hold. One that is not among them is damage, and reading it throws. */
export const roleColumn = z.enum(['admin', 'member']);
export const incidentStatusColumn = z.enum(incidentStatuses);
export const severityColumn = z.enum(severities);
export const alertStatusColumn = z.enum(alertStatuses);
export const resolutionColumn = z.enum(resolutions);
export const waitingPartyColumn = z.enum(waitingParties);
export const chatStatusColumn = z.enum(['running', 'waiting', 'completed', 'failed', 'cancelled']);
export const messageRoleColumn = z.enum(['user', 'agent', 'system']);
export const investigationStatusColumn = z.enum(['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled']);
export const signingStateColumn = z.enum(['next', 'current', 'retired']);
export const webhookEventColumn = z.enum(webhookEvents);
export const auditEventColumn = z.enum(auditEvents);
