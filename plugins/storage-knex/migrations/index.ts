import type { Knex } from 'knex';
import * as directory from './0001-directory.ts';
import * as credentials from './0002-credentials.ts';
import * as incidents from './0003-incidents.ts';
import * as chats from './0004-chats.ts';
import * as investigations from './0005-investigations.ts';
import * as audit from './0006-audit.ts';
import * as scanUsage from './0007-scan-usage.ts';
import * as people from './0008-people.ts';
import * as replicas from './0009-replicas.ts';
import * as keptResults from './0010-kept-results.ts';
import * as webhooks from './0011-webhooks.ts';
import * as incidentLife from './0012-incident-life.ts';
import * as alerts from './0013-alerts.ts';
import * as auditChain from './0015-audit-chain.ts';

export interface Migration {
  up(knex: Knex): Promise<void>;
}

/** In order; names are recorded in the database and never change. A migration that was released is never edited. */
export const migrations: readonly (readonly [name: string, migration: Migration])[] = [
  ['0001-directory', directory],
  ['0002-credentials', credentials],
  ['0003-incidents', incidents],
  ['0004-chats', chats],
  ['0005-investigations', investigations],
  ['0006-audit', audit],
  ['0007-scan-usage', scanUsage],
  ['0008-people', people],
  ['0009-replicas', replicas],
  ['0010-kept-results', keptResults],
  ['0011-webhooks', webhooks],
  ['0012-incident-life', incidentLife],
  ['0013-alerts', alerts],
  ['0015-audit-chain', auditChain],
];
