import { SightlineError } from '../../../src/contract/core/index.ts';
import type { Fault, Setback } from '../dialect.ts';
import { connectionTrouble, innermost, lostCodes, textMember, type Reason, unusable } from '../server/errors.ts';
import type { ServerSettings } from '../server/settings.ts';

/** What kind of refusal a constraint gave, if it was one. */
export function constraintFault(error: unknown): Fault | undefined {
  switch (textMember(error, 'code')) {
    case '23505':
      return 'duplicate';
    case '23503':
      return 'foreign_key';
    default:
      return undefined;
  }
}

export function setback(error: unknown): Setback | undefined {
  switch (textMember(error, 'code')) {
    case '40001':
    case '40P01':
      return 'undone';
    default:
      return isLost(error) ? 'lost' : undefined;
  }
}

/** The server ended the connection, or it broke. */
export function isLost(error: unknown): boolean {
  const code = textMember(error, 'code') ?? '';
  return lostCodes.has(code) || /^(?:57P0[1-5]|25P03|08...)$/.test(code);
}

export function explain(error: unknown, settings: ServerSettings): SightlineError | undefined {
  const inner = innermost(error);
  const code = textMember(inner, 'code') ?? '';
  if (code === '22021' || code === '22P05') {
    return new SightlineError('invalid_argument', 'A text holds the character U+0000, which cannot be kept.', {
      cause: error,
    });
  }
  const reason = stateOf(code) ?? connectionTrouble(code) ?? wordsOf(textMember(inner, 'message') ?? '');
  return reason === undefined ? undefined : unusable(settings, reason, error);
}

function stateOf(code: string): Reason | undefined {
  switch (code) {
    case '28P01':
      return ['the password is wrong', 'Check storage.password.'];
    case '28000':
      return ['the server does not let this login in', 'Check the login, and pg_hba.conf.'];
    case '3D000':
      return ['there is no such database', 'Create it, or check storage.database.'];
    case '3F000':
      return ['there is no schema to make tables in', "Check the login's search_path."];
    case '25006':
      return ['the server takes no changes: it is read-only or a standby', 'Give the primary server.'];
    case '42501':
      return ['the login lacks a right', 'It must own its tables: docs/storage.md says what it needs.'];
    case '53100':
      return ['the disk of the server is full', 'Free some space; what was stored is intact.'];
    case '53200':
      return ['the server has no memory left'];
    case '53300':
      return ['the server has too many connections', 'Lower storage.pool.max, or raise max_connections.'];
    case '57014':
      return ['a statement took too long and was stopped', 'Look for locks held by other programs.'];
    case '55P03':
      return ['a lock was not to be had', 'Look for locks held by other programs.'];
    case '40001':
    case '40P01':
      return ['others kept changing the same at the same time'];
    case '57P03':
      return ['the server is starting or stopping', 'Wait for it.'];
    default:
      return classOf(code);
  }
}

function classOf(code: string): Reason | undefined {
  switch (code.length === 5 ? code.slice(0, 2) : '') {
    case '08':
    case '57':
      return ['the server ended the connection', "Look at the server's log."];
    case '53':
      return ['the server lacks resources', "Look at the server's log."];
    case '58':
    case 'XX':
      return ['the server failed or its data are damaged', "Look at the server's log."];
    default:
      return undefined;
  }
}

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
