import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { SightlineError, errorCode, parseJson } from '../contract/core/index.ts';
import { shellWord } from '../contract/core/quote.ts';
import { operations } from '../gateway/admin/index.ts';
import { actOnAdmin, authorsOf } from './admin.ts';
import {
  actInOrganization,
  orgCommand,
  orgShape,
  refuseCollector,
  requireGateway,
  toPaste,
  type Register,
} from './command.ts';
import { showRows } from './output.ts';

const signals = [
  ['resourceSpans', 'traces'],
  ['resourceMetrics', 'metrics'],
  ['resourceLogs', 'logs'],
] as const;

export const register: Register = (program, output, summary) => {
  const group = program.command('ingest').description(summary);

  const show = orgCommand(group, 'show', 'print the endpoint and token for senders').option(
    '--for <sender>',
    'print what this sender is set up with: a language, collector, kubernetes, prometheus, fluent_bit, browser',
  );
  const showShape = orgShape.extend({ for: z.string().optional() });
  actOnAdmin(show, output, showShape, async ({ admin, options }) => {
    const described = await admin.perform(operations.showIngest, {}, options.org);
    const { env, collector_yaml: collector, grpc_endpoint: grpc } = described;
    const setups = new Map(Object.entries({ collector, ...described.setups }));
    const chosen = options.for === undefined ? undefined : setups.get(options.for);
    const senders = [...setups.keys()].join(', ');
    if (options.for !== undefined && chosen === undefined) {
      throw new SightlineError('invalid_argument', `--for is one of ${senders}.`);
    }
    output.result(
      described,
      () =>
        chosen ??
        [
          ...exports(env),
          ...(grpc === undefined ? [] : [`# Over gRPC: ${exports(overGrpc(grpc)).join('; ')}`]),
          `# What to start: --for with one of ${senders}`,
        ].join('\n'),
    );
  });

  const tokens = orgCommand(group, 'tokens', 'list the valid ingest tokens');
  actOnAdmin(tokens, output, orgShape, async ({ admin, options: { org } }) => {
    const { items: rows } = await admin.perform(operations.listIngestTokens, {}, org);
    const authorOf = await authorsOf(output, admin, org);
    showRows(
      output,
      rows,
      ['id', 'token', 'created', 'by', 'last used'],
      (row) => [
        row.id,
        `…${row.last_four ?? '????'}`,
        row.created_at,
        authorOf(row.created_by),
        row.last_used_at ?? 'never',
      ],
      `There is no token. Make one with: ${toPaste('sightline ingest rotate', org)}`,
    );
  });

  const rotate = orgCommand(group, 'rotate', 'create an ingest token; the previous one works until it is revoked');
  actOnAdmin(rotate, output, orgShape, async ({ admin, options: { org } }) => {
    const { token, previous } = await admin.perform(operations.rotateIngestToken, {}, org);
    output.result({ token, previous }, () => {
      const revoke = toPaste(`sightline ingest revoke ${previous}`, org);
      return `token  ${token}${previous === null ? '' : `\nOnce no sender uses the old one: ${revoke}`}`;
    });
  });

  const revoke = orgCommand(group, 'revoke <token_id>', 'revoke an ingest token');
  actOnAdmin(revoke, output, orgShape, async ({ admin, options: { org }, operands: [id = ''] }) => {
    await admin.perform(operations.revokeIngestToken, { id }, org);
    output.result({ id, revoked: true }, () => `${id} is revoked.`);
  });

  const send = orgCommand(
    group,
    'send <file...>',
    'send OTLP/JSON files (one request, or one a line) to the running gateway',
  );
  actInOrganization(send, output, orgShape, async ({ workspace, organization: { id }, operands, settings }) => {
    refuseCollector(workspace);
    // Everything is read before anything is sent: a broken last file should not leave half of the data behind.
    const requests = operands.flatMap(readRequests);
    const { sendOtlp } = await import('../lab/demo/send.ts');
    const endpoint = await requireGateway(workspace, settings);
    const token = await workspace.ingestTokens.ensure(id);
    const { rejected } = await sendOtlp(requests, {
      endpoint,
      token,
      onProgress: (progress) => output.progress(progress, 'sending'),
    });
    output.result({ requests: requests.length, rejected }, () => {
      const lost = rejected === 0 ? '' : `; the receiver rejected ${rejected} items`;
      return `Sent ${requests.length} request${requests.length === 1 ? '' : 's'}${lost}.`;
    });
  });
};

/** For a shell, whatever a template of the configuration brings. */
function exports(env: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(env).map(([name, value]) => {
    return `export ${name}=${value === '' ? '' : shellWord(value)}`;
  });
}

function overGrpc(endpoint: string): Readonly<Record<string, string>> {
  return { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
}

interface FileRequest {
  readonly signal: (typeof signals)[number][1];
  readonly body: string;
  readonly items: number;
  readonly progress?: number;
}

function readRequests(file: string): FileRequest[] {
  const text = readInput(file);
  const whole = parseJson(text);
  if (whole !== undefined) return [request(file, whole, text)];
  const lines = text.split('\n').map((line) => line.trim());
  return lines.flatMap((line, index) => {
    if (line === '') return [];
    const value = parseJson(line);
    const place = `${file}, line ${index + 1},`;
    if (value === undefined) throw new SightlineError('invalid_argument', `${place} is not JSON.`);
    return [{ ...request(place, value, line), progress: (index + 1) / lines.length }];
  });
}

function request(place: string, value: unknown, body: string): FileRequest {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const known = signals.find(([key]) => keys.includes(key));
  if (known !== undefined) return { signal: known[1], body, items: 1 };
  throw new SightlineError('invalid_argument', `${place} is no OTLP request.`, {
    hint: 'It should be an object with resourceSpans, resourceMetrics or resourceLogs.',
  });
}

export function readInput(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const missing = errorCode(cause) === 'ENOENT';
    throw new SightlineError('invalid_argument', `The file ${file} ${missing ? 'does not exist' : 'cannot be read'}.`, {
      cause,
    });
  }
}
