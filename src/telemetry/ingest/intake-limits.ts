import type { Allowance } from '../../limits/budget.ts';
import type { BodyLimits } from './body.ts';

export interface ReceiverLimits {
  readonly body: BodyLimits;
  /** Memory of unanswered requests. */
  readonly total: Allowance;
  readonly organization: Allowance;
  /** Acknowledged bytes that may wait on the disk for the warehouse. */
  readonly behindTotal: number;
  readonly behindOrganization: number;
}

const mebibyte = 1024 * 1024;

export const receiverLimits: ReceiverLimits = {
  body: { bytes: 64 * mebibyte, totalMs: 60_000, idleMs: 10_000 },
  total: { bytes: 384 * mebibyte, requests: 512 },
  organization: { bytes: 192 * mebibyte, requests: 128 },
  behindTotal: 8192 * mebibyte,
  behindOrganization: 2048 * mebibyte,
};
