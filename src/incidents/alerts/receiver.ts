import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AlertInput, alertNotice, type AlertNotice, mostAlerts, type Warn } from '../../contract/alerts/index.ts';
import { ClientGone, type Host, isId, SightlineError } from '../../contract/core/index.ts';
import { nestsDeeperThan } from '../../contract/core/json.ts';
import type { AlertSource, Directory } from '../../contract/storage/index.ts';
import { AtOnce } from '../../limits/at-once.ts';
import { createRateLimit } from '../../limits/rate-limit.ts';
import {
  answer,
  type Answer,
  eventsAnswer,
  notFound,
  Refusal,
  refuse,
  tooMany,
  Warnings,
  wrongSecret,
} from './answers.ts';
import type { AlertRecorder } from './recorder.ts';
import { isHeartbeat, named } from './workload.ts';

const mebibyte = 1024 * 1024;

/** What senders of alerts are held to, at each gateway. */
export const limits = {
  bodyBytes: 8 * mebibyte,
  /** For the whole body to come. */
  bodyMs: 10_000,
  depth: 32,
  /** That a sender is told of; further ones are counted. */
  warnings: 20,
  /** Of one source from one network address. */
  requests: { perMinute: 6_000, burst: 6_000 },
  /** The same for wrong secrets. Never applies to the right secret. */
  wrongSecrets: { perMinute: 30, burst: 30 },
  /** Requests that are not answered yet: of one source from one network address, of one organization, and of all. */
  atOnce: { caller: 100, organization: 150, total: 300 },
  /** Bytes of their bodies, for the same. */
  bytesAtOnce: { caller: 32 * mebibyte, organization: 128 * mebibyte, total: 256 * mebibyte },
  /** Lines in the log about what was left out or guessed, of one source from one network address. */
  logged: { perMinute: 1, burst: 5 },
} as const;

interface Taken {
  readonly accepted: number;
  /** What fires all the time by design, and opens nothing. */
  readonly heartbeats?: number;
  /** What was left out or guessed. */
  readonly warnings?: readonly string[];
}

export interface AlertReceiverOptions extends Pick<Host, 'now' | 'logger'> {
  readonly directory: () => Pick<Directory, 'alertSource'>;
  /** By plugin name. */
  readonly inputs: ReadonlyMap<string, AlertInput>;
  /** Opens a source's sealed secret. */
  readonly secretOf: (source: AlertSource) => string;
  readonly recorder: AlertRecorder;
  /** The caller's network address, as `trustProxy` says. */
  readonly clientAddress: (request: IncomingMessage) => string | undefined;
  /** Visits the address that a sender wants confirmed; false where that fails. */
  readonly confirm: (url: string) => Promise<boolean>;
}

/**
 * Answers every request below /alerts/. 200 means that the alerts survive any crash. Set `waits` for a request from the
 * server's `checkContinue`: it gets its 100 once it is admitted.
 */
export type AlertReceiver = (request: IncomingMessage, response: ServerResponse, waits: boolean) => void;

export function createAlertReceiver(options: AlertReceiverOptions): AlertReceiver {
  const { directory, inputs, secretOf, recorder, clientAddress, confirm, now, logger } = options;
  const requests = createRateLimit(limits.requests);
  const wrongSecrets = createRateLimit(limits.wrongSecrets);
  const atOnce = new AtOnce(limits.atOnce);
  const bytesAtOnce = new AtOnce(limits.bytesAtOnce);
  const logged = createRateLimit(limits.logged);

  /** What happens to a request, in this order. */
  async function receive(request: IncomingMessage, response: ServerResponse, waits: boolean): Promise<Answer> {
    const { id, asEvents } = readPath(request.url ?? '');
    const source = await findSource(id, request);
    const caller = { organizationId: source.organizationId, subject: `${source.id} ${clientAddress(request) ?? ''}` };
    admit(requests.take(caller));
    const leave = atOnce.enter(caller.organizationId, caller.subject);
    if (leave === undefined) throw tooMany(1);
    const held = [leave];
    const hold = (bytes: number): boolean => {
      const giveBack = bytesAtOnce.enter(caller.organizationId, caller.subject, bytes);
      if (giveBack !== undefined) held.push(giveBack);
      return giveBack !== undefined;
    };
    try {
      if (waits) response.writeContinue();
      const body = await readBody(request, limits, hold);
      const input = inputOf(source);
      if (!input.verify({ headers: request.headers, body }, secretOf(source))) {
        admit(wrongSecrets.take(caller));
        throw wrongSecret();
      }
      const content = parseBody(body, limits.depth);
      const address = input.confirmation?.(content);
      if (address !== undefined) await confirmed(source, address);
      const warnings = new Warnings(limits.warnings);
      const { notices, taken } = normalize(source, input, content, warnings);
      if (notices.length > 0) await recorder.record(source, notices);
      if (taken.warnings !== undefined && logged.take(caller) === 0) {
        logger.warn({ source: source.id, plugin: source.plugin, ...taken }, 'alerts were taken in part, or by a guess');
      }
      return asEvents ? eventsAnswer(notices) : { status: 200, body: taken };
    } finally {
      for (const release of held) release();
    }
  }

  /** What has to be confirmed sends nothing before. Failed, the sender repeats it. */
  async function confirmed({ id }: AlertSource, address: string): Promise<void> {
    const { host } = new URL(address);
    if (!(await confirm(address))) {
      logger.error({ source: id, host }, 'the address that a sender of alerts wants confirmed did not answer');
      throw new Refusal(503, 'unavailable', `The subscription is not confirmed: ${host} did not answer this gateway.`);
    }
    logger.info({ source: id, host }, 'the subscription of a sender of alerts is confirmed');
  }

  /** Looked up for each request, so that removing a source takes effect at once. */
  async function findSource(id: string, request: IncomingMessage): Promise<AlertSource> {
    const source = isId('als', id) ? await directory().alertSource(id) : undefined;
    if (source === undefined) throw notFound();
    if (request.method === 'POST') return source;
    throw new Refusal(405, 'invalid_argument', 'Alerts are sent by POST.', { allow: 'POST' });
  }

  function inputOf({ id, plugin }: AlertSource): AlertInput {
    const input = inputs.get(plugin);
    if (input !== undefined) return input;
    logger.error({ source: id, plugin }, 'alerts cannot be read: their plugin is not in the config (alerts)');
    throw new SightlineError('unavailable', 'The plugin of this alert source is not configured.');
  }

  function normalize(source: AlertSource, input: AlertInput, body: unknown, warnings: Warnings) {
    const all = understood(source, input, body, warnings.add);
    if (all.length > mostAlerts) warnings.add(`${all.length - mostAlerts} of ${all.length} alerts are left out.`);
    // The bounds hold for every plugin, third-party ones too.
    const first = all
      .slice(0, mostAlerts)
      .map((notice) => named(alertNotice({ ...notice, urls: [notice.url] }, now())));
    const notices = first.filter((notice) => !isHeartbeat(notice));
    const heartbeats = first.length - notices.length;
    const told = warnings.told();
    const taken: Taken = {
      accepted: notices.length,
      ...(heartbeats > 0 && { heartbeats }),
      ...(told.length > 0 && { warnings: told }),
    };
    return { notices, taken };
  }

  function understood(source: AlertSource, input: AlertInput, body: unknown, warn: Warn): readonly AlertNotice[] {
    try {
      return input.normalize(body, warn);
    } catch (error) {
      if (error instanceof SightlineError && error.code === 'invalid_argument') throw error;
      const { id, plugin } = source;
      logger.error({ source: id, plugin, error }, 'an alert plugin failed on what was sent to it');
      throw new Refusal(400, 'invalid_argument', 'The body could not be understood.');
    }
  }

  return (request, response, waits) => {
    receive(request, response, waits).then(
      ({ status, body }) => answer(response, status, body),
      (error: unknown) => {
        if (error instanceof ClientGone) return;
        const told = error instanceof SightlineError && error.code === 'invalid_argument';
        if (!told && !(error instanceof Refusal)) logger.error({ error }, 'alerts could not be taken');
        refuse(response, error);
      },
    );
  };
}

function admit(waitSeconds: number): void {
  if (waitSeconds > 0) throw tooMany(waitSeconds);
}

/** `/alerts/<id>`, or what clients of PagerDuty's Events API append to their base address; whatever stands behind a `?` is not ours. */
function readPath(url: string): { readonly id: string; readonly asEvents: boolean } {
  const [path = ''] = url.split('?', 1);
  const [, id = '', events] = /^\/alerts\/(.*?)(\/v2\/enqueue)?$/s.exec(path) ?? [];
  return { id, asEvents: events !== undefined };
}

interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyMs: number;
}

/** The body as it came: what a signature is of. Rejects with 408, 413, 415, or 429 where `hold` has no room for more bytes. */
export function readBody(
  request: IncomingMessage,
  { bodyBytes, bodyMs }: BodyLimits,
  hold: (bytes: number) => boolean,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') {
    return Promise.reject(new Refusal(415, 'invalid_argument', 'The body must not be compressed.'));
  }
  const tooLarge = () => new Refusal(413, 'payload_too_large', `The body is larger than ${bodyBytes} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (error: Error | undefined): void => {
      clearTimeout(late);
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      if (error === undefined) resolve(Buffer.concat(chunks, size));
      else reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > bodyBytes) settle(tooLarge());
      else if (!hold(chunk.length)) settle(tooMany(1));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(undefined);
    const onGone = (): void => settle(new ClientGone());
    const late = setTimeout(
      () => settle(new Refusal(408, 'invalid_argument', 'The body did not come in time.')),
      bodyMs,
    );
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** The JSON of a body. Throws 400 for what is none, or nests deeper than `depth`. */
function parseBody(body: Buffer, depth: number): unknown {
  if (nestsDeeperThan(body, depth)) {
    throw new Refusal(400, 'invalid_argument', `The body nests deeper than ${depth} levels.`);
  }
  try {
    if (isUtf8(body)) return JSON.parse(body.toString('utf8'));
  } catch {
    // Said below, without the parser's words, which quote the body.
  }
  throw new Refusal(400, 'invalid_argument', 'The body is not JSON in UTF-8.');
}
