import { connectionTrouble, reasons, type SightlineError } from '../../../src/contract/core/index.ts';
import type { Fault, Setback } from '../dialect.ts';
import { member, textMember, innermost, lostCodes, unusableServer } from '../errors.ts';
import type { ServerSettings } from '../config.ts';

/** The server's numbers (mariadb.com/kb/en/mariadb-error-codes, dev.mysql.com/doc/mysql-errors). */
const number = { deadlock: 1213, changedSinceRead: 1020, shutdown: 1053, killed: 1927 } as const;

/** The server is no longer the primary: another connection may find that. */
const readOnly: ReadonlySet<unknown> = new Set([1290, 1792, 1836]);

const faults: ReadonlyMap<unknown, Fault> = new Map([
  [1062, 'duplicate'],
  // No parent; there are children.
  [1452, 'foreign_key'],
  [1451, 'foreign_key'],
]);

/** What kind of refusal a constraint gave, if it was one. */
export function constraintFault(error: unknown): Fault | undefined {
  return faults.get(member(error, 'errno'));
}

/** A wait for a lock that took too long undid nothing and is no setback: trying again would wait as long. */
export function setback(error: unknown): Setback | undefined {
  const errno = member(error, 'errno');
  if (errno === number.deadlock || errno === number.changedSinceRead) return 'undone';
  return isLost(error) ? 'lost' : undefined;
}

/** The server ended the connection, or it broke. */
export function isLost(error: unknown): boolean {
  const errno = member(error, 'errno');
  if (readOnly.has(errno) || errno === number.killed || errno === number.shutdown) return true;
  return lostCodes.has(textMember(error, 'code') ?? '');
}

export function explain(error: unknown, settings: ServerSettings): SightlineError | undefined {
  const inner = innermost(error);
  const code = textMember(inner, 'code') ?? '';
  const reason = numbers.get(String(member(inner, 'errno'))) ?? connectionTrouble.get(code) ?? handshake.get(code);
  return reason === undefined ? undefined : unusableServer(settings, reason, error);
}

const handshake = reasons({
  HANDSHAKE_NO_SSL_SUPPORT: ['the server does not offer TLS', 'Set it up there, or leave storage.ssl out.'],
});

const numbers = reasons({
  '1045 1698': ['the login or its password is wrong', 'Check storage.user, and storage.password or passwordFile.'],
  '1130 1129': ['the server does not let this host in', "Check the login's host part."],
  '1044 1142 1143 1227': ['the login lacks a right', 'docs/storage.md says what it needs.'],
  '1049': ['there is no such database', 'Create it, or check storage.database.'],
  '1290 1792 1836': ['the server takes no changes: it is read-only or a replica', 'Give the primary server.'],
  '3 28 1021 1026 1114': ['the disk of the server is full', 'Free some space; what was stored is intact.'],
  '1040 1203 1226': ['the server has too many connections', 'Lower storage.pool.max, or raise max_connections.'],
  '1153': ['a text is longer than the server takes', 'Raise max_allowed_packet.'],
  '1205': ['a lock was not to be had', 'Look for locks held by other programs.'],
  [`${number.deadlock} ${number.changedSinceRead}`]: ['others kept changing the same at the same time'],
  '1317 1969 3024': ['a statement took too long and was stopped', 'Look for locks held by other programs.'],
  '1665': ['its binary log is written by statements', 'Set binlog_format to ROW or MIXED.'],
  '1041 1037': ['the server has no memory left'],
  [`${number.shutdown} ${number.killed}`]: ['the server ended the connection', "Look at the server's log."],
});

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
