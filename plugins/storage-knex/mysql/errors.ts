import type { SightlineError } from '../../../src/contract/core/index.ts';
import type { Fault, Setback } from '../dialect.ts';
import {
  connectionTrouble,
  innermost,
  lostCodes,
  member,
  textMember,
  type Reason,
  unusable,
} from '../server/errors.ts';
import type { ServerSettings } from '../server/settings.ts';

/** The server's numbers (mariadb.com/kb/en/mariadb-error-codes, dev.mysql.com/doc/mysql-errors). */
const number = {
  tooManyConnections: 1040,
  deadlock: 1213,
  changedSinceRead: 1020,
  shutdown: 1053,
  killed: 1927,
  duplicate: 1062,
  noParent: 1452,
  hasChildren: 1451,
} as const;

/** What kind of refusal a constraint gave, if it was one. */
export function constraintFault(error: unknown): Fault | undefined {
  switch (member(error, 'errno')) {
    case number.duplicate:
      return 'duplicate';
    case number.noParent:
    case number.hasChildren:
      return 'foreign_key';
    default:
      return undefined;
  }
}

/** A wait for a lock that took too long undid nothing and is no setback: trying again would wait as long. */
export function setback(error: unknown): Setback | undefined {
  switch (member(error, 'errno')) {
    case number.deadlock:
    case number.changedSinceRead:
      return 'undone';
    default:
      return isLost(error) ? 'lost' : undefined;
  }
}

/** The server ended the connection, or it broke. */
export function isLost(error: unknown): boolean {
  const errno = member(error, 'errno');
  return lostCodes.has(textMember(error, 'code') ?? '') || errno === number.killed || errno === number.shutdown;
}

export function explain(error: unknown, settings: ServerSettings): SightlineError | undefined {
  const inner = innermost(error);
  const reason = reasonOf(member(inner, 'errno')) ?? connectionTrouble(textMember(inner, 'code') ?? '');
  if (reason !== undefined) return unusable(settings, reason, error);
  return textMember(inner, 'code') === 'HANDSHAKE_NO_SSL_SUPPORT'
    ? unusable(settings, ['the server does not offer TLS', 'Set it up there, or leave storage.ssl out.'], error)
    : undefined;
}

function reasonOf(errno: unknown): Reason | undefined {
  switch (errno) {
    case 1045:
    case 1698:
      return ['the login or its password is wrong', 'Check storage.user and storage.password.'];
    case 1130:
    case 1129:
      return ['the server does not let this host in', "Check the login's host part."];
    case 1044:
    case 1142:
    case 1143:
    case 1227:
      return ['the login lacks a right', 'docs/storage.md says what it needs.'];
    case 1049:
      return ['there is no such database', 'Create it, or check storage.database.'];
    case 1290:
    case 1792:
    case 1836:
      return ['the server takes no changes: it is read-only or a replica', 'Give the primary server.'];
    case 3:
    case 28:
    case 1021:
    case 1026:
    case 1114:
      return ['the disk of the server is full', 'Free some space; what was stored is intact.'];
    case number.tooManyConnections:
    case 1203:
    case 1226:
      return ['the server has too many connections', 'Lower storage.pool.max, or raise max_connections.'];
    case 1153:
      return ['a text is longer than the server takes', 'Raise max_allowed_packet.'];
    case 1205:
      return ['a lock was not to be had', 'Look for locks held by other programs.'];
    case number.deadlock:
    case number.changedSinceRead:
      return ['others kept changing the same at the same time'];
    case 1317:
    case 1969:
    case 3024:
      return ['a statement took too long and was stopped', 'Look for locks held by other programs.'];
    case 1665:
      return ['its binary log is written by statements', 'Set binlog_format to ROW or MIXED.'];
    case 1041:
    case 1037:
      return ['the server has no memory left'];
    case number.shutdown:
    case number.killed:
      return ['the server ended the connection', "Look at the server's log."];
    default:
      return undefined;
  }
}

/** Messages that name a database, table or login, and quote nothing else. */
const harmless: ReadonlySet<unknown> = new Set([
  1044, 1045, 1049, 1050, 1054, 1060, 1061, 1091, 1142, 1146, 1698, 1826,
]);

/**
 * The same error without the rows and statements it quotes, for it goes to the log; and with a code where the driver gives
 * none, before knex puts the statement in front of its message.
 */
export function told(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  Reflect.deleteProperty(error, 'sql');
  const message = textMember(error, 'message') ?? '';
  if (member(error, 'errno') !== undefined && !harmless.has(member(error, 'errno'))) {
    const bare = message.replace(/'.*'/s, '…');
    Reflect.set(error, 'message', bare);
    Reflect.set(error, 'sqlMessage', bare);
  }
  if (textMember(error, 'code') === undefined && member(error, 'fatal') === true) {
    Reflect.set(error, 'code', 'PROTOCOL_CONNECTION_LOST');
  }
  return error;
}
