import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type AlertInput,
  alertNotice,
  type AlertNotice,
  environmentLabels,
  firstLabel,
} from '../../contract/alerts/index.ts';
import { ClientGone, type Host, isId, SightlineError } from '../../contract/core/index.ts';
import { nestsDeeperThan } from '../../contract/core/json.ts';
import type { AlertSource, Directory } from '../../contract/storage/index.ts';
import { AtOnce } from '../../limits/at-once.ts';
import { createRateLimit } from '../../limits/rate-limit.ts';
import { answer, notFound, Refusal, refuse, tooMany } from './answers.ts';
import type { AlertRecorder } from './recorder.ts';

/** In the order of how surely they name what telemetry calls a service. A scrape job or a deployment is a guess. */
const serviceLabels =
  'service.name service_name service app.kubernetes.io/name app_kubernetes_io_name app deployment job'.split(' ');

/** The notice with the service and environment that its labels name, where it does not name them itself. */
function named(notice: AlertNotice): AlertNotice {
  const service = firstLabel(notice.labels, serviceLabels);
  const environment = notice.environment ?? firstLabel(notice.labels, [...environmentLabels, 'namespace']);
  return {
    ...notice,
    services: notice.services.length > 0 || service === undefined ? notice.services : [service],
    ...(environment !== undefined && { environment }),
  };
}

/** What senders of alerts are held to, at each gateway. */
export const limits = {
  bodyBytes: 1024 * 1024,
  /** For the whole body to come. */
  bodyMs: 10_000,
  depth: 32,
  notices: 1_000,
  /** Of one source from one network address. */
  requests: { perMinute: 6_000, burst: 6_000 },
  /** The same for wrong secrets. Never applies to the right secret. */
  wrongSecrets: { perMinute: 30, burst: 30 },
  /** Requests that are not answered yet: of one source from one network address, of one organization, and of all. */
  atOnce: { caller: 100, organization: 150, total: 300 },
} as const;

export interface AlertReceiverOptions extends Pick<Host, 'now' | 'logger'> {
  readonly directory: () => Pick<Directory, 'alertSource'>;
  /** By plugin name. */
  readonly inputs: ReadonlyMap<string, AlertInput>;
  /** Opens a source's sealed secret. */
  readonly secretOf: (source: AlertSource) => string;
  readonly recorder: AlertRecorder;
  /** The caller's network address, as `trustProxy` says. */
  readonly clientAddress: (request: IncomingMessage) => string | undefined;
}

/**
 * Answers every request below /alerts/. 200 means that the alerts survive any crash. Set `waits` for a request from the
 * server's `checkContinue`: it gets its 100 once it is admitted.
 */
export type AlertReceiver = (request: IncomingMessage, response: ServerResponse, waits: boolean) => void;

export function createAlertReceiver(options: AlertReceiverOptions): AlertReceiver {
  const { directory, inputs, secretOf, recorder, clientAddress, now, logger } = options;
  const requests = createRateLimit(limits.requests);
  const wrongSecrets = createRateLimit(limits.wrongSecrets);
  const atOnce = new AtOnce(limits.atOnce);

  /** What happens to a request, in this order. */
  async function receive(request: IncomingMessage, response: ServerResponse, waits: boolean): Promise<number> {
    const source = await findSource(request);
    const caller = { organizationId: source.organizationId, subject: `${source.id} ${clientAddress(request) ?? ''}` };
    admit(requests.take(caller));
    const leave = atOnce.enter(caller.organizationId, caller.subject);
    if (leave === undefined) throw tooMany(1);
    try {
      if (waits) response.writeContinue();
      const body = await readBody(request, limits);
      const input = inputOf(source);
      if (!input.verify({ headers: request.headers, body }, secretOf(source))) {
        admit(wrongSecrets.take(caller));
        throw new Refusal(401, 'invalid_token', 'The secret or signature of this alert source is wrong or missing.');
      }
      const notices = normalize(source, input, parseBody(body, limits.depth));
      if (notices.length > 0) await recorder.record(source, notices);
      return notices.length;
    } finally {
      leave();
    }
  }

  /** Looked up for each request, so that removing a source takes effect at once. */
  async function findSource(request: IncomingMessage): Promise<AlertSource> {
    const id = idOf(request.url ?? '');
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

  function normalize(source: AlertSource, input: AlertInput, body: unknown): readonly AlertNotice[] {
    const notices = understood(source, input, body);
    if (notices.length > limits.notices) {
      throw new Refusal(413, 'payload_too_large', `A request brings at most ${limits.notices} alerts.`);
    }
    // The bounds hold for every plugin, third-party ones too.
    return notices.map((notice) => named(alertNotice({ ...notice, urls: [notice.url] }, now())));
  }

  function understood({ id, plugin }: AlertSource, input: AlertInput, body: unknown): readonly AlertNotice[] {
    try {
      return input.normalize(body);
    } catch (error) {
      if (error instanceof SightlineError && error.code === 'invalid_argument') throw error;
      logger.error({ source: id, plugin, error }, 'an alert plugin failed on what was sent to it');
      throw new Refusal(400, 'invalid_argument', 'The body could not be understood.');
    }
  }

  return (request, response, waits) => {
    receive(request, response, waits).then(
      (accepted) => answer(response, 200, { accepted }),
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

/** `/alerts/<id>`; whatever stands behind a `?` is not ours. */
function idOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.slice('/alerts/'.length);
}

interface BodyLimits {
  readonly bodyBytes: number;
  readonly bodyMs: number;
}

/** The body as it came: what a signature is of. Rejects with 408, 413 or 415. */
export function readBody(request: IncomingMessage, { bodyBytes, bodyMs }: BodyLimits): Promise<Buffer> {
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
