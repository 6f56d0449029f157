import { once } from 'node:events';
import { connect } from 'node:tls';
import { z } from 'zod';
import { SightlineError, within } from '../contract/core/index.ts';
import type { Finding } from '../contract/telemetry/index.ts';
import { openAgent, openIssuer } from '../gateway/wiring/warehouse.ts';
import type { OpenWorkspace } from '../gateway/wiring/workspace.ts';
import { isPrivate, timeoutMs } from './ask.ts';
import { discover } from './mcp-endpoint.ts';

export type Verdict = Omit<Finding, 'check'>;

export async function attempt(finding: () => Verdict | Promise<Verdict>, deadlineMs: number): Promise<Verdict> {
  try {
    return await inTime((async () => await finding())(), deadlineMs);
  } catch (error) {
    return failed(error);
  }
}

export async function inTime<Answer>(work: Promise<Answer>, deadlineMs: number): Promise<Answer> {
  const late = () =>
    new SightlineError('unavailable', `It did not end within ${deadlineMs / 1_000} s.`, {
      hint: 'Run sightline doctor again; if it says the same, see whether what it asks for answers.',
    });
  return await within(deadlineMs, work, late);
}

export function failed(error: unknown): Verdict {
  if (error instanceof SightlineError) {
    return {
      status: 'fail',
      detail: error.operatorMessage ?? error.message,
      ...(error.hint !== undefined && { hint: error.hint }),
    };
  }
  return { status: 'fail', detail: error instanceof Error ? error.message : String(error) };
}

/** Asks what the gateway depends on elsewhere: the identity provider, the model, and the way to its own publicUrl. */
export async function examineOutside(workspace: OpenWorkspace, deadlineMs = 30_000): Promise<readonly Finding[]> {
  return [
    ...(await provider(workspace, deadlineMs)),
    { check: 'agent', ...(await attempt(() => agent(workspace), deadlineMs)) },
    ...(await publicAddress(workspace, deadlineMs)),
    ...(await organizationsNamed(workspace, deadlineMs)),
  ];
}

/** Where plugins' sections name organizations; they are checked by the plugins themselves. */
const sections = z.object({
  issuer: z.object({ memberships: z.array(z.object({ organization: z.string().optional() })).default([]) }),
  telemetry: z.object({
    tenancy: z.object({ organizations: z.record(z.string(), z.unknown()).default({}) }).default({ organizations: {} }),
  }),
});

/** A name that is no organization's applies to nobody, in silence: those of the config are created after it. */
async function organizationsNamed(workspace: OpenWorkspace, deadlineMs: number): Promise<readonly Finding[]> {
  const { config, storage } = workspace;
  const { issuer, telemetry } = sections.safeParse(config).data ?? {};
  const named: readonly (readonly [key: string, names: readonly string[]])[] = [
    ['scim.organizations', config.scim.organizations.map(({ organization }) => organization)],
    ['ingest.collector.tokens', Object.keys(config.ingest.collector?.tokens ?? {})],
    ['issuer.memberships', issuer?.memberships.flatMap(({ organization = [] }) => organization) ?? []],
    ['telemetry.tenancy.organizations', Object.keys(telemetry?.tenancy.organizations ?? {})],
  ];
  const findings: Finding[] = [];
  for (const [check, names] of named) {
    const verdict = await attempt(async () => {
      const missing: string[] = [];
      for (const name of new Set(names)) {
        if ((await storage.directory.findOrganization(name)) === undefined) missing.push(JSON.stringify(name));
      }
      if (missing.length === 0) return { status: 'ok', detail: `${names.length} named` };
      return {
        status: 'warn',
        detail: `There is no organization ${missing.slice(0, 10).join(', ')}, so what ${check} says of it applies to nobody.`,
        hint: 'sightline org list names those there are; sightline org create makes one.',
      };
    }, deadlineMs);
    if (verdict.status !== 'ok') findings.push({ check, ...verdict });
  }
  return findings;
}

async function provider(workspace: OpenWorkspace, deadlineMs: number): Promise<readonly Finding[]> {
  try {
    const issuer = await openIssuer(workspace);
    return (await inTime(Promise.resolve(issuer.look?.()), deadlineMs)) ?? [];
  } catch (error) {
    return [{ check: 'identity provider', ...failed(error) }];
  }
}

/** A model is looked up where its API is. */
async function agent(workspace: OpenWorkspace): Promise<Verdict> {
  const { label, agent: asked } = await openAgent(workspace);
  try {
    await asked.start(AbortSignal.timeout(10_000));
    const { ok, degraded, detail = label } = await asked.health(AbortSignal.timeout(10_000));
    return { status: ok && degraded !== true ? 'ok' : 'fail', detail };
  } finally {
    await asked.stop();
  }
}

async function publicAddress(workspace: OpenWorkspace, deadlineMs: number): Promise<readonly Finding[]> {
  const { publicUrl, trustProxy } = workspace.config;
  if (publicUrl === undefined) return [];
  const url = `${publicUrl.replace(/\/$/, '')}/mcp`;
  const findings: Finding[] = [];
  if (!isPrivate(publicUrl)) {
    findings.push({
      check: 'publicUrl',
      status: 'warn',
      detail: `${publicUrl} is plain http: passwords and tokens can be read on the way, and clients refuse to sign in`,
      hint: 'Put a proxy with TLS in front and write its https address as publicUrl: docs/proxy.md.',
    });
  }
  if (publicUrl.startsWith('https:') && trustProxy === false) {
    findings.push({
      check: 'trustProxy',
      status: 'warn',
      detail: 'publicUrl is https, so a proxy stands in front, and trustProxy is not set: everybody has its address',
      hint: 'Set trustProxy to the number of proxies, so that limits on guessing hold for each network alone.',
    });
  }
  const answered = await attempt(async () => {
    await discover(url);
    return { status: 'ok', detail: `${url} and the metadata it leads to answer under this name` };
  }, deadlineMs);
  const running = answered.status === 'ok' || (await workspace.runningGateway()) !== undefined;
  findings.push({
    check: 'publicUrl',
    ...answered,
    ...(!running && { status: 'warn', hint: 'The gateway is not running.' }),
  });
  if (answered.status === 'ok' && publicUrl.startsWith('https:')) {
    findings.push({ check: 'certificate', ...(await attempt(() => certificate(new URL(publicUrl)), deadlineMs)) });
  }
  return findings;
}

const dayMs = 86_400_000;
const soonDays = 14;

async function certificate({ hostname, port }: URL): Promise<Verdict> {
  const socket = connect({ host: hostname, port: Number(port || 443), servername: hostname });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) });
    const until = new Date(socket.getPeerCertificate().valid_to);
    const days = Math.floor((until.getTime() - Date.now()) / dayMs);
    const detail = `of ${hostname}, valid until ${until.toISOString().slice(0, 10)}`;
    return days < soonDays
      ? { status: 'warn', detail, hint: `Renew it: ${days} days are left.` }
      : { status: 'ok', detail };
  } finally {
    socket.destroy();
  }
}
