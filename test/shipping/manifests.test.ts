import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultLoaders } from 'cosmiconfig';
import { z } from 'zod';
import { loadConfig } from '../../src/gateway/config/load.ts';
import type { Config } from '../../src/gateway/config/schema.ts';
import { longestCallMs } from '../../src/gateway/wiring/listen.ts';
import { loadPlugin } from '../../src/gateway/process/registry.ts';
import { removeDirectory, root, temporaryDirectory } from '../support/gateway.ts';
import { nodeOptions } from '../support/start-command.ts';
import * as shapes from './support/manifests.ts';

const deploy = (...path: string[]): string => join(root, 'deploy', ...path);

async function read<Shape extends z.ZodType>(path: string, shape: Shape): Promise<z.output<Shape>> {
  const parsed: unknown = defaultLoaders['.yaml'](path, await readFile(path, 'utf8'));
  return shape.parse(merged(parsed));
}

/** `<<` takes the keys of another mapping, which compose knows and the parser here does not. */
function merged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(merged);
  if (typeof value !== 'object' || value === null) return value;
  const { '<<': base, ...own } = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, merged(item)]));
  return typeof base === 'object' ? { ...base, ...own } : own;
}

let directory = '';
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => removeDirectory(directory));

/** Loads the config with what the environment is said to hold, and all its plugins' sections. */
async function load(file: string, env: Readonly<Record<string, string>>): Promise<Config> {
  const { config } = await loadConfig({ file, cwd: directory, env, overrides: {} });
  for (const kind of ['storage', 'issuer', 'telemetry', 'agent'] as const) {
    const { plugin, ...section } = config[kind];
    await loadPlugin(kind, { plugin, ...section }, file);
  }
  return config;
}

async function variablesOf(file: string): Promise<readonly string[]> {
  return [...(await readFile(file, 'utf8')).matchAll(/\$\{env:(\w+)\}/g)].map(([, name = '']) => name);
}

const image = async (): Promise<string> => readFile(join(root, 'Dockerfile'), 'utf8');

it('the config of the image is one, and its defaults serve beyond the container', async () => {
  const config = await load(deploy('docker/sightline.config.yaml'), {});
  expect(config).toMatchObject({ listen: { host: '0.0.0.0', port: 8080 }, trustProxy: false });
  const behind = await load(deploy('docker/sightline.config.yaml'), {
    PUBLIC_URL: 'https://a.example',
    TRUST_PROXY: '2',
  });
  expect(behind).toMatchObject({ publicUrl: 'https://a.example', trustProxy: 2 });
  const said = async (proxies: string) =>
    (await load(deploy('docker/sightline.config.yaml'), { TRUST_PROXY: proxies })).trustProxy;
  // One proxy is one, and not whatever a client says.
  expect([await said('1'), await said('true'), await said('false')]).toEqual([1, true, false]);
});

describe('the compose files', () => {
  const secrets = [
    'STORAGE_PASSWORD',
    'WAREHOUSE_ADMIN_PASSWORD',
    'WAREHOUSE_PASSWORD',
    'WAREHOUSE_WRITER_PASSWORD',
    'KEYCLOAK_ADMIN_PASSWORD',
    'KEYCLOAK_CLIENT_SECRET',
    'ADA_PASSWORD',
  ];

  it.each(['embedded', 'complete'])('%s: every service, volume and file it names is there', async (name) => {
    const { services, volumes } = await read(deploy('compose', name, 'compose.yaml'), shapes.compose);
    const used = Object.values(services).flatMap((service) => service.volumes ?? []);
    for (const volume of used) {
      const [source = '', target = ''] = volume.split(':');
      expect(target).toMatch(/^\//);
      if (source.startsWith('.')) await access(deploy('compose', name, source));
      else expect(Object.keys(volumes)).toContain(source);
    }
    expect(new Set(used.map((volume) => volume.split(':', 1)[0]).filter((source) => !source?.startsWith('.')))).toEqual(
      new Set(Object.keys(volumes)),
    );
    for (const { depends_on = {}, network_mode = '', build } of Object.values(services)) {
      expect(Object.keys(services)).toEqual(expect.arrayContaining(Object.keys(depends_on)));
      if (network_mode !== '') expect(Object.keys(services)).toContain(network_mode.replace('service:', ''));
      if (build !== undefined) await access(deploy('compose', name, build, 'Dockerfile'));
    }
    const gateway = services['sightline'];
    expect(gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(await image()).toContain(`VOLUME ${gateway?.volumes?.[0]?.split(':')[1]}\n`);
    expect(gateway?.ports?.every((port) => port.startsWith('127.0.0.1:'))).toBe(true);
  });

  it('complete: the secrets are those of the example, and the config is one with them', async () => {
    const example = await readFile(deploy('compose/complete/.env.example'), 'utf8');
    expect([...example.matchAll(/^(\w+)=$/gm)].map(([, name]) => name)).toEqual(secrets);
    const text = await readFile(deploy('compose/complete/compose.yaml'), 'utf8');
    expect(new Set([...text.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name))).toEqual(new Set(secrets));
    const file = deploy('compose/complete/sightline.config.yaml');
    const { services } = await read(deploy('compose/complete/compose.yaml'), shapes.compose);
    const given = services['sightline']?.environment ?? {};
    expect(Object.keys(given)).toEqual(expect.arrayContaining([...(await variablesOf(file))]));
    const config = await load(file, Object.fromEntries(secrets.map((name) => [name, 'a'.repeat(48)])));
    const hosts = [config.storage['url'], config.telemetry['url']].map((url) => new URL(String(url)).hostname);
    expect(Object.keys(services)).toEqual(expect.arrayContaining(hosts));
    // The realm is the one the issuer names, and lets the gateway back in.
    const realm = shapes.realm.parse(JSON.parse(await readFile(deploy('compose/complete/realm.json'), 'utf8')));
    expect(String(config.issuer['issuer'])).toMatch(new RegExp(`/realms/${realm.realm}$`));
    expect(realm.clients).toEqual([
      expect.objectContaining({
        clientId: config.issuer['clientId'],
        redirectUris: [`${config.publicUrl}/sign-in/callback`],
      }),
    ]);
    const rules = z.array(z.object({ group: z.string() })).parse(config.issuer['memberships']);
    expect(realm.roles.realm.map(({ name }) => name)).toEqual(rules.map(({ group }) => group));
  });
});

describe('the Kubernetes manifests', () => {
  it('are what kustomize and the API know, and name each other rightly', async () => {
    const base = deploy('kubernetes/base');
    const { resources } = await read(join(base, 'kustomization.yaml'), shapes.kustomization);
    expect(resources.toSorted()).toEqual(
      (await readdir(base)).filter((name) => name !== 'kustomization.yaml').toSorted(),
    );
    const set = await read(join(base, 'statefulset.yaml'), shapes.statefulSet);
    const service = await read(join(base, 'service.yaml'), shapes.service);
    const headless = await read(join(base, 'headless-service.yaml'), shapes.service);
    const account = await read(join(base, 'service-account.yaml'), shapes.serviceAccount);
    const budget = await read(join(base, 'disruption-budget.yaml'), shapes.disruptionBudget);
    expect(budget.spec.maxUnavailable).toBe(1);
    const { spec } = set.spec.template;
    expect(set.spec.serviceName).toBe(headless.metadata.name);
    expect(spec.serviceAccountName).toBe(account.metadata.name);
    const [container] = spec.containers;
    const [port] = container.ports;
    expect([service, headless].map((each) => each.spec.ports[0].targetPort)).toEqual([port.name, port.name]);
    expect(
      [container.startupProbe, container.livenessProbe, container.readinessProbe].map((probe) => probe.httpGet),
    ).toEqual(['/readyz', '/livez', '/readyz'].map((path) => ({ path, port: port.name })));
    const volumes = [...spec.volumes, ...set.spec.volumeClaimTemplates.map(({ metadata }) => metadata)];
    expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
      volumes.map(({ name }) => name).toSorted(),
    );
    const dockerfile = await image();
    for (const { name, mountPath } of container.volumeMounts) {
      expect(dockerfile).toContain(name === 'data' ? `VOLUME ${mountPath}\n` : `SIGHTLINE_CONFIG=${mountPath}/`);
    }
    expect(dockerfile).toContain(`USER ${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}\n`);
    expect(dockerfile).toContain(`EXPOSE ${port.containerPort}\n`);
  });

  it.each(['embedded', 'replicas'])('%s: its config is one with the secrets of its example', async (name) => {
    const overlay = deploy('kubernetes', name);
    const { configMapGenerator, resources } = await read(join(overlay, 'kustomization.yaml'), shapes.kustomization);
    expect(resources).toEqual(['../base']);
    expect(configMapGenerator).toEqual([{ name: 'sightline', files: ['sightline.config.yaml'] }]);
    const file = join(overlay, 'sightline.config.yaml');
    const secret = await read(join(overlay, 'secret.example.yaml'), shapes.secret);
    expect(secret.metadata.name).toBe('sightline');
    expect(new Set(Object.keys(secret.stringData))).toEqual(
      new Set(['SIGHTLINE_MASTER_KEY', ...(await variablesOf(file))]),
    );
    const config = await load(file, { ...secret.stringData, BOUNDARY_SECRET: 'a'.repeat(64) });
    const { spec } = (await read(deploy('kubernetes/base/statefulset.yaml'), shapes.statefulSet)).spec.template;
    const [container] = spec.containers;
    expect(config.listen).toMatchObject({ host: '0.0.0.0', port: container.ports[0].containerPort });
    // Until the Service has noticed, and until all is done.
    const { periodSeconds, failureThreshold } = container.readinessProbe;
    expect(config.listen.leaveSeconds).toBeGreaterThan(periodSeconds * failureThreshold);
    const components = 6 * 10;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      config.listen.leaveSeconds + longestCallMs(config) / 1_000 + 5 + components,
    );
  });

  it('embedded: there is memory for all its engines', async () => {
    const config = await load(deploy('kubernetes/embedded/sightline.config.yaml'), {});
    const patch = await read(deploy('kubernetes/embedded/resources.yaml'), shapes.resources);
    const [{ resources }] = patch.spec.template.spec.containers;
    const limit = Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]) * 1_024;
    expect(Number(config.telemetry['openEngines']) * Number(config.telemetry['memoryLimitMb'])).toBeLessThan(
      limit - 512,
    );
  });
});

describe('the systemd unit', () => {
  it('starts what the package installs, and ends it as it wants to be ended', async () => {
    const unit = await readFile(deploy('systemd/sightline.service'), 'utf8');
    const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]));
    const { name, bin } = z
      .object({ name: z.string(), bin: z.object({ sightline: z.string() }) })
      .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
    expect(settings.get('ExecStart')).toBe(
      `/usr/bin/node ${nodeOptions.join(' ')} /opt/sightline/node_modules/${name}/${bin.sightline} serve --no-demo`,
    );
    expect(Object.fromEntries(settings)).toMatchObject({
      User: 'sightline',
      ExecReload: '/bin/kill -HUP $MAINPID',
      KillMode: 'mixed',
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      StateDirectory: 'sightline',
      RestartPreventExitStatus: '2 3',
    });
    expect(unit).toContain('Environment=SIGHTLINE_DATA=/var/lib/sightline/data\n');
    const file = join(directory, 'sightline.config.yaml');
    await writeFile(file, '');
    expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(longestCallMs(await load(file, {})) / 1_000 + 5);
  });
});
