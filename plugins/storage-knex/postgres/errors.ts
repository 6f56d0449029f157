import { connectionTrouble, reasons, SightlineError, type Reason } from '../../../src/contract/core/index.ts';
import type { Fault, Setback } from '../dialect.ts';
import { textMember, innermost, lostCodes, unusableServer } from '../errors.ts';
import type { ServerSettings } from '../config.ts';

const faults: ReadonlyMap<string, Fault> = new Map([
  ['23505', 'duplicate'],
  ['23503', 'foreign_key'],
]);

/** What kind of refusal a constraint gave, if it was one. */
export function constraintFault(error: unknown): Fault | undefined {
  return faults.get(textMember(error, 'code') ?? '');
}

export function setback(error: unknown): Setback | undefined {
  if (['40001', '40P01'].includes(textMember(error, 'code') ?? '')) return 'undone';
  return isLost(error) ? 'lost' : undefined;
}

/** The server ended the connection, or it broke; or the server is no longer the primary, and another connection may find that. */
export function isLost(error: unknown): boolean {
  const code = textMember(error, 'code') ?? '';
  return lostCodes.has(code) || /^(?:57P0[1-5]|25P0[34]|25006|08...)$/.test(code);
}

/** Since a statement before it failed in the same transaction. */
export function isRefusedForAnother(error: unknown): boolean {
  return textMember(error, 'code') === '25P02';
}

export function explain(error: unknown, settings: ServerSettings): SightlineError | undefined {
  const inner = innermost(error);
  const code = textMember(inner, 'code') ?? '';
  if (code === '22021' || code === '22P05') {
    return new SightlineError('invalid_argument', 'A text holds the character U+0000, which cannot be kept.', {
      cause: error,
    });
  }
  const reason =
    states.get(code) ??
    (code.length === 5 ? classes.get(code.slice(0, 2)) : undefined) ??
    connectionTrouble.get(code) ??
    wordsOf(textMember(inner, 'message') ?? '');
  return reason === undefined ? undefined : unusableServer(settings, reason, error);
}

const states = reasons({
  '28P01': ['the password is wrong', 'Check storage.password or passwordFile.'],
  '28000': ['the server does not let this login in', 'Check the login, and pg_hba.conf.'],
  '3D000': ['there is no such database', 'Create it, or check storage.database.'],
  '3F000': ['there is no schema to make tables in', "Check the login's search_path."],
  '25006': ['the server takes no changes: it is read-only or a standby', 'Give the primary server.'],
  '42501': ['the login lacks a right', 'It must own its tables: docs/storage.md says what it needs.'],
  '53100': ['the disk of the server is full', 'Free some space; what was stored is intact.'],
  '53200': ['the server has no memory left'],
  '53300': ['the server has too many connections', 'Lower storage.pool.max, or raise max_connections.'],
  '57014': ['a statement took too long and was stopped', 'Look for locks held by other programs.'],
  '55P03': ['a lock was not to be had', 'Look for locks held by other programs.'],
  '40001 40P01': ['others kept changing the same at the same time'],
  '57P03': ['the server is starting or stopping', 'Wait for it.'],
});

/** Of states by their first two characters. */
const classes = reasons({
  '08 57': ['the server ended the connection', "Look at the server's log."],
  '53': ['the server lacks resources', "Look at the server's log."],
  '58 XX': ['the server failed or its data are damaged', "Look at the server's log."],
});

function wordsOf(message: string): Reason | undefined {
  if (message.includes('does not support SSL')) {
    return ['the server does not offer TLS', 'Set it up there, or leave storage.ssl out.'];
  }
  if (message.includes('password must be a string')) {
    return ['the server asks for a password', 'Give storage.password.'];
  }
  return undefined;
}

/**
 * The same error without what it quotes of rows and statements, for it goes to the log; and with a code where the driver gives
 * none, before knex puts the statement in front of its message.
 */
export function told(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  for (const telling of ['detail', 'where', 'internalQuery']) Reflect.deleteProperty(error, telling);
  const code = textMember(error, 'code') ?? driverCode(textMember(error, 'message') ?? '');
  if (code !== undefined) Reflect.set(error, 'code', code);
  // Of these the message itself quotes the value.
  if (code?.startsWith('22') === true) Reflect.set(error, 'message', 'a value was refused');
  return error;
}

function driverCode(message: string): string | undefined {
  if (
    /^(?:Query read timeout|timeout expired|timeout exceeded|Connection terminated due to connection timeout)/.test(
      message,
    )
  ) {
    return 'ETIMEDOUT';
  }
  return /^Connection (?:terminated|ended)|^Client (?:has encountered|was closed)|not queryable/.test(message)
    ? 'ECONNRESET'
    : undefined;
}
