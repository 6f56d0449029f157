import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ClientGone,
  type Component,
  type Health,
  type Instruments,
  type Logger,
  type OrganizationId,
} from '../../contract/core/index.ts';
import type { Directory } from '../../contract/storage/index.ts';
import type { TelemetrySink } from '../../contract/telemetry/index.ts';
import {
  answerJson,
  answerRefusal,
  answerSuccess,
  OtlpRefusal,
  retryLater,
  stored,
  successBody,
  type Stored,
} from './answers.ts';
import { ActivityLog } from './activity.ts';
import { inflate, readBody, receiverLimits, type BodyLimits, type ReceiverLimits } from './body.ts';
import { changeLimits, OnceById, storeChange } from './changes.ts';
import { Budget } from '../../limits/budget.ts';
import { DecodePool } from './decode-pool.ts';
import { signals, type Signal } from './fields.ts';
import type { Encoding } from './decode.ts';
import { authenticate, encodingOf, ofHttp, refuseUnknownCoding, type Incoming } from './incoming.ts';
import { LogWriteError } from './ingest-log.ts';
import { WorkerLogs, type OrganizationLogs } from './logs-of-organizations.ts';
import type { WorkerPlace } from './files.ts';
import { dayMs, Retention } from './retention.ts';

export interface OtlpReceiverOptions {
  readonly directory: Pick<Directory, 'ingestTokenByHash' | 'organizations'>;
  /** Undefined where telemetry reaches the warehouse by another way: then everything is answered 404. */
  readonly sink: TelemetrySink | undefined;
  readonly dataDirectory: string;
  /** How long rows are kept. */
  readonly retentionDays: () => number;
  /** Where several processes are one gateway; by default this one is it. */
  readonly worker?: WorkerPlace;
  readonly logger: Logger;
  /** Undefined where nothing is recorded. */
  readonly instruments?: Instruments | undefined;
  readonly now: () => Date;
  readonly limits?: Partial<ReceiverLimits>;
}

export interface OtlpReceiver extends Component {
  /** Received and not yet in the warehouse. */
  readonly waitingBytes: number;
  /**
   * Answers everything under /v1/, with slashes and a prefix as SDKs make them of their endpoint (`//v1/traces/`,
   * `/otlp/v1/traces`); returns false for other paths. Set `waitsToContinue` for a request from the server's
   * `checkContinue`: it gets its 100 once it is admitted.
   */
  handle(request: IncomingMessage, response: ServerResponse, waitsToContinue?: boolean): boolean;
  /** A call of gRPC: its response message. Rejects with an OtlpRefusal, or with ClientGone. */
  call(signal: Signal, incoming: Incoming): Promise<Buffer>;
  /** Removes what is kept here of an organization that sends no more. */
  forget(organizationId: OrganizationId): Promise<void>;
}

/** OTLP over HTTP (opentelemetry-proto, docs/specification.md). 200 means that the records will survive any crash. */
export function createOtlpReceiver(options: OtlpReceiverOptions): OtlpReceiver {
  return new Receiver(options);
}

class Receiver implements OtlpReceiver {
  readonly #options: OtlpReceiverOptions;
  readonly #logger: Logger;
  readonly #limits: ReceiverLimits;
  readonly #budget: Budget;
  #pool = new DecodePool();
  readonly #changes = new OnceById();
  readonly #logs: WorkerLogs | undefined;
  readonly #retention: Retention | undefined;
  readonly #activity: ActivityLog;
  #serving = false;
  /** Requests whose body is read and which are not answered. */
  readonly #storing = new Set<Promise<unknown>>();

  constructor(options: OtlpReceiverOptions) {
    this.#options = options;
    this.#logger = options.logger.child({ component: 'otlp' });
    this.#limits = { ...receiverLimits, ...options.limits };
    this.#budget = new Budget(this.#limits.total, this.#limits.organization);
    const { sink, directory, retentionDays, now, worker = { number: 1, of: 1 } } = options;
    const lagMs = (id: OrganizationId) => this.#logs?.own.lagMs(id);
    this.#activity = new ActivityLog(options.dataDirectory, worker.number, this.#logger, now, lagMs);
    if (sink === undefined) return;
    this.#logs = new WorkerLogs(join(options.dataDirectory, 'ingest'), worker, sink, this.#logger);
    if (worker.number > 1) return;
    const file = join(options.dataDirectory, 'retention.json');
    this.#retention = new Retention({ sink, directory, days: retentionDays, file, now, logger: this.#logger });
  }

  get waitingBytes(): number {
    return this.#logs?.waitingBytes ?? 0;
  }

  async start(): Promise<void> {
    if (this.#serving) return;
    this.#pool = new DecodePool();
    await this.#logs?.start();
    await this.#activity.start();
    this.#retention?.start();
    this.#serving = true;
  }

  async stop(): Promise<void> {
    this.#serving = false;
    await this.#retention?.stop();
    // Their senders learn that they are stored, and need not send them again.
    const stored = Promise.allSettled(this.#storing);
    await Promise.race([stored, sleep(stopGraceMs, undefined, { ref: false })]);
    await this.#logs?.stop();
    await this.#pool.stop();
    await this.#activity.stop();
  }

  async forget(organizationId: OrganizationId): Promise<void> {
    this.#activity.forget(organizationId);
    await this.#logs?.forget(organizationId);
  }

  async health(): Promise<Health> {
    if (this.#logs === undefined) return { ok: true, detail: 'no telemetry is received here' };
    if (this.#logs.full) return { ok: true, degraded: true, detail: 'the disk is full' };
    const { failing } = this.#logs;
    if (failing.length === 0) return { ok: true };
    // One organization's damaged file must not take the gateway away from all: what is received is safe in the log.
    return {
      ok: true,
      degraded: true,
      detail: `the warehouse does not take loads of ${failing.join(', ')}; ${this.waitingBytes} bytes wait`,
    };
  }

  handle(request: IncomingMessage, response: ServerResponse, waitsToContinue = false): boolean {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const parts = path.split('/').filter((part) => part !== '');
    if (parts[0] === 'otlp') parts.shift();
    if (parts[0] !== 'v1') return false;
    const target = parts.length === 2 ? targets.find((name) => name === parts[1]) : undefined;
    const encoding = encodingOf(request.headers['content-type']);
    void this.#serve(request, response, target, encoding, waitsToContinue);
    return true;
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target | undefined,
    encoding: Encoding | undefined,
    waitsToContinue: boolean,
  ): Promise<void> {
    const sender: Sender = { userAgent: request.headers['user-agent'] };
    try {
      const logs = this.#logs?.own;
      if (target === undefined || logs === undefined) throw notHere(target);
      if (request.method !== 'POST') throw new OtlpRefusal(405, 'This is sent by POST.', { allow: 'POST' });
      const incoming = ofHttp(request, response, waitsToContinue);
      if (target === 'changes') return answerJson(response, await this.#change(incoming, sender, logs, encoding));
      const decoded = await this.#export(incoming, sender, logs, target, encoding);
      if (encoding !== undefined) answerSuccess(response, encoding, target, decoded);
    } catch (error) {
      if (error instanceof ClientGone) return;
      answerRefusal(response, encoding ?? 'json', this.#refuse(error, sender));
    }
  }

  async call(signal: Signal, incoming: Incoming): Promise<Buffer> {
    const sender: Sender = { userAgent: incoming.headers['user-agent'] };
    try {
      const logs = this.#logs?.own;
      if (logs === undefined) throw notHere(signal);
      return successBody('protobuf', signal, await this.#export(incoming, sender, logs, signal, 'protobuf'));
    } catch (error) {
      throw error instanceof ClientGone ? error : this.#refuse(error, sender);
    }
  }

  async #export(
    incoming: Incoming,
    sender: Sender,
    logs: OrganizationLogs,
    signal: Signal,
    encoding: Encoding | undefined,
  ): Promise<Stored> {
    const formats = 'application/x-protobuf or application/json';
    const received = { incoming, sender, encoding, formats, limits: this.#limits.body };
    const decoded = await this.#receive(received, logs, (organizationId, body, format) =>
      this.#store(logs, organizationId, signal, format, body),
    );
    const { reasons, unknown, altered } = decoded;
    for (const [reason, count] of reasons) {
      this.#activity.refused({ ...sender, cause: `rejected: ${reason}`, reason, count });
    }
    const cause = unknown.length > 0 ? 'nothing stored' : 'altered';
    if (altered !== '') this.#activity.refused({ ...sender, cause, reason: altered });
    return decoded;
  }

  /** One change, stored as the log event that it is. */
  async #change(
    incoming: Incoming,
    sender: Sender,
    logs: OrganizationLogs,
    encoding: Encoding | undefined,
  ): Promise<object> {
    const limits = { ...this.#limits.body, bytes: changeLimits.bytes };
    const received = {
      incoming,
      sender,
      encoding: encoding === 'json' ? encoding : undefined,
      formats: 'application/json',
      limits,
    };
    return this.#receive(received, logs, (organizationId, body) =>
      storeChange(this.#changes, organizationId, body, this.#options.now().getTime(), (event) =>
        this.#store(logs, organizationId, 'logs', 'json', event),
      ),
    );
  }

  /** Decodes and writes to the log, from where the warehouse loads it. */
  async #store(
    logs: OrganizationLogs,
    organizationId: OrganizationId,
    signal: Signal,
    encoding: Encoding,
    body: Buffer,
  ): Promise<Stored> {
    const nowMs = this.#options.now().getTime();
    const oldestMs = nowMs - this.#options.retentionDays() * dayMs;
    const decoded = await this.#pool.decode(organizationId, signal, encoding, body, nowMs, oldestMs);
    if (!decoded.ok) {
      const { refused, message, kind } = decoded;
      throw new OtlpRefusal(refused === 'malformed' ? 400 : 413, message, {}, kind);
    }
    if (decoded.batches.length > 0) {
      await logs.append(organizationId, decoded.batches);
      this.#activity.arrived(organizationId, decoded.service);
    }
    this.#options.instruments?.ingested(signal, decoded.accepted, decoded.rejected);
    return stored(decoded);
  }

  /** Whose request it is, and its body, within what one organization and all together may hold. */
  async #receive<Result>(
    { incoming, sender, encoding, formats, limits }: Received,
    logs: OrganizationLogs,
    take: (organizationId: OrganizationId, body: Buffer, encoding: Encoding) => Promise<Result>,
  ): Promise<Result> {
    if (!this.#serving) throw notRunning();
    const { headers, body } = incoming;
    const organizationId = await authenticate(incoming, this.#options.directory);
    sender.organizationId = organizationId;
    if (encoding === undefined) throw new OtlpRefusal(415, `The content type must be ${formats} in UTF-8.`);
    refuseUnknownCoding(headers);
    this.#refuseWhenBehind(logs, organizationId);
    const share = this.#budget.enter(organizationId);
    if (share === 'organization') throw retryLater(429, 'This organization sends too many requests at once.', 1);
    if (share === 'total') throw retryLater(503, 'The gateway receives too many requests at once.', 1);
    try {
      incoming.admitted();
      const read = await readBody(body, Number(headers['content-length'] ?? 0), limits, share);
      const { bytes, coding } = incoming.message(read);
      const plain = coding === undefined || bytes.length === 0 ? bytes : await inflate(bytes, coding, limits, share);
      if (!this.#serving) throw notRunning();
      const taking = take(organizationId, plain, encoding);
      this.#storing.add(taking);
      return await taking.finally(() => this.#storing.delete(taking));
    } finally {
      share.leave();
    }
  }

  #refuseWhenBehind(logs: OrganizationLogs, organizationId: OrganizationId): void {
    const { behindOrganization, behindTotal } = this.#limits;
    if (logs.behindBytes(organizationId) < behindOrganization && logs.totalBehindBytes < behindTotal) return;
    throw retryLater(503, 'The warehouse cannot keep up, and the queue before it is full.', 10);
  }

  #refuse(error: unknown, sender: Sender): OtlpRefusal {
    const refusal = this.#refusalOf(error);
    const { status, kind } = refusal;
    if (status === 429 || status === 503) {
      this.#options.instruments?.refused('ingest', status === 429 ? 'rate_limited' : 'unavailable');
    }
    this.#activity.refused({ ...sender, cause: `HTTP ${status}${kind && `: ${kind}`}`, reason: refusal.message });
    return refusal;
  }

  #refusalOf(error: unknown): OtlpRefusal {
    if (error instanceof OtlpRefusal) return error;
    if (error instanceof LogWriteError) {
      const message = error.full
        ? 'The disk is full. Nothing of this request was stored.'
        : 'The request could not be stored.';
      return retryLater(503, message, error.full ? 30 : 5);
    }
    const id = randomUUID();
    this.#logger.error({ error, request_id: id }, 'an OTLP request failed');
    return retryLater(503, `The request failed. The cause is in the log under ${id}.`, 5, 'failed');
  }
}

/** For requests that are being stored when the receiver stops. */
const stopGraceMs = 3000;

const targets = [...signals, 'changes'] as const;
type Target = (typeof targets)[number];

/** For what is said of a refusal: whose it is, once the token was looked up. */
interface Sender {
  readonly userAgent: string | undefined;
  organizationId?: OrganizationId;
}

interface Received {
  readonly incoming: Incoming;
  readonly sender: Sender;
  readonly encoding: Encoding | undefined;
  /** Those that are taken. */
  readonly formats: string;
  readonly limits: BodyLimits;
}

function notRunning(): OtlpRefusal {
  return retryLater(503, 'The receiver is not running.', 1);
}

function notHere(target: Target | undefined): OtlpRefusal {
  return target === undefined
    ? new OtlpRefusal(404, 'OTLP is received at /v1/traces, /v1/metrics and /v1/logs; changes at /v1/changes.')
    : new OtlpRefusal(404, 'This gateway receives no telemetry. Send it to the warehouse directly.');
}
