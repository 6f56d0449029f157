import type { ServerResponse } from 'node:http';
import { SightlineError } from '../contract/core/index.ts';
import type { OrganizationId } from '../contract/core/index.ts';
import { requestFailure } from './failure.ts';

const mebibyte = 1024 * 1024;
const most = 256 * mebibyte;
const mostEach = 64 * mebibyte;
/** Smaller ones are with the operating system at once. */
const smallBytes = 64 * 1024;

/** The memory of large answers that slow readers have not taken yet. */
export class HeldAnswers {
  #bytes = 0;
  readonly #of = new Map<OrganizationId, number>();

  /** Throws where so much is held, of all or of the organization, that no further call is to be begun. */
  check(organizationId: OrganizationId): void {
    if (this.#bytes === 0) return;
    const own = (this.#of.get(organizationId) ?? 0) >= mostEach;
    if (!own && this.#bytes < most) return;
    throw requestFailure(
      new SightlineError(own ? 'rate_limited' : 'overloaded', 'Too many large answers wait to be read.', {
        hint: 'Read the answers to earlier calls, or ask for fewer rows.',
        retryAfterSeconds: 2,
      }),
    );
  }

  /** Counts an answer until it is with the operating system, or its reader is gone. */
  add(organizationId: OrganizationId, bytes: number, response: ServerResponse): void {
    if (bytes <= smallBytes || response.closed || response.destroyed) return;
    this.#count(organizationId, bytes);
    response.once('close', () => this.#count(organizationId, -bytes));
  }

  #count(organizationId: OrganizationId, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#of.get(organizationId) ?? 0) + bytes;
    if (own === 0) this.#of.delete(organizationId);
    else this.#of.set(organizationId, own);
  }
}
