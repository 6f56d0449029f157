import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { defaultLoaders } from 'cosmiconfig';
import { z } from 'zod';
import { loadConfig } from '../../src/gateway/config/load.ts';
import { loadPlugin } from '../../src/gateway/process/registry.ts';
import { removeDirectory, root, temporaryDirectory } from '../support/gateway.ts';
import { buildHelm, type Helm, type Rendered } from './support/helm.ts';

/*
 * The chart by Helm's own engine: text/template and sprig. Helm itself is not in Debian; what it adds, the check of values by
 * values.schema.json, is done here by another reader of JSON Schema.
 */

const url = 'https://mcp.example.com';
const embedded = { publicUrl: url };
const everything = {
  publicUrl: url,
  replicas: 3,
  image: {
    repository: 'images.example.com/sightline',
    digest: `sha256:${'a'.repeat(64)}`,
    pullSecrets: [{ name: 'images' }],
  },
  config: {
    storage: { client: 'postgres', url: '${env:STORAGE_URL}' },
    telemetry: {
      plugin: 'postgres',
      memoryLimitMb: null,
      openEngines: null,
      url: '${env:WAREHOUSE_URL}',
      boundary: { secret: '${env:BOUNDARY_SECRET}' },
    },
  },
  secretName: 'of-the-gateways',
  volume: { size: '20Gi', storageClass: 'fast' },
  ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' }, tlsSecretName: 'certificate' },
  metrics: { enabled: true, podMonitor: { enabled: true, labels: { release: 'prometheus' } } },
  networkPolicy: { from: [{ podSelector: {} }], metricsFrom: [{ namespaceSelector: {} }] },
};
const secrets = {
  STORAGE_URL: 'postgres://s:p@storage.example/s',
  WAREHOUSE_URL: 'postgres://s:p@warehouse.example/w',
  BOUNDARY_SECRET: 'a'.repeat(64),
};

const read = async (...path: string[]): Promise<unknown> => {
  const file = join(root, ...path);
  return defaultLoaders['.yaml'](file, await readFile(file, 'utf8'));
};
const labels = { 'app.kubernetes.io/name': 'sightline', 'app.kubernetes.io/instance': 'acme' };
const pod = z.looseObject({
  metadata: z.object({ labels: z.record(z.string(), z.string()), annotations: z.record(z.string(), z.string()) }),
  spec: z.looseObject({
    containers: z.tuple([
      z.looseObject({ image: z.string(), ports: z.array(z.object({ name: z.string(), containerPort: z.int() })) }),
    ]),
  }),
});
const set = z.looseObject({ spec: z.looseObject({ template: pod }) });

describe('the Helm chart', () => {
  let directory = '';
  let helm: Helm | undefined;
  beforeAll(async () => {
    directory = await temporaryDirectory();
    helm = await buildHelm(directory);
  }, 120_000);
  afterAll(() => removeDirectory(directory));

  const of = (objects: readonly Rendered[], kind: string): Rendered => {
    const [found, ...more] = objects.filter((each) => each.kind === kind);
    if (found === undefined || more.length > 0) throw new Error(`not one ${kind}`);
    return found;
  };

  it('has the version of the package', async () => {
    const { version } = z.object({ version: z.string() }).parse(await read('package.json'));
    expect(await read('deploy/helm/Chart.yaml')).toMatchObject({ version, appVersion: version });
  });

  it('starts the pods of deploy/kubernetes, bound to what it names', async () => {
    if (helm === undefined) return;
    const { objects, notes } = await helm.template(embedded);
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      'ConfigMap',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'Service',
      'ServiceAccount',
      'StatefulSet',
    ]);
    const stateful = of(objects, 'StatefulSet');
    const { template } = set.parse(stateful).spec;
    const base = set.parse(await based()).spec.template;
    expect(template.spec).toEqual(base.spec);
    expect(template.metadata.labels).toMatchObject(labels);
    expect(stateful).toMatchObject({
      spec: { serviceName: 'acme-sightline-headless', selector: { matchLabels: labels } },
    });
    for (const service of objects.filter(({ kind }) => kind === 'Service')) {
      expect(service).toMatchObject({ spec: { selector: labels, ports: [{ targetPort: 'http' }] } });
    }
    expect(of(objects, 'PodDisruptionBudget')).toMatchObject({ spec: { selector: { matchLabels: labels } } });
    expect(notes).toContain('create secret generic sightline --from-literal=SIGHTLINE_MASTER_KEY=');
    expect(notes).toContain('exec acme-sightline-0 -- node bin/sightline.js doctor');
  });

  /** The pod of the plain manifests, with what the chart calls otherwise. */
  async function based(): Promise<unknown> {
    const text = await readFile(join(root, 'deploy/kubernetes/base/statefulset.yaml'), 'utf8');
    const { version } = z.object({ version: z.string() }).parse(await read('package.json'));
    const given = z
      .looseObject({
        spec: z.looseObject({
          template: z.looseObject({ spec: z.looseObject({ containers: z.tuple([z.looseObject({})]) }) }),
        }),
      })
      .parse(defaultLoaders['.yaml']('statefulset.yaml', text));
    const { spec } = given.spec.template;
    const resources = z.object({ resources: z.unknown() }).parse(await read('deploy/helm/values.yaml')).resources;
    const [container] = spec.containers;
    return {
      spec: {
        template: {
          metadata: { labels: {}, annotations: {} },
          spec: {
            ...spec,
            serviceAccountName: 'acme-sightline',
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: labels },
              },
            ],
            containers: [{ ...container, image: `sightline:${version}`, imagePullPolicy: 'IfNotPresent', resources }],
            volumes: [{ name: 'config', configMap: { name: 'acme-sightline' } }],
          },
        },
      },
    };
  }

  it('publishes gateways, and their metrics to those who are named', async () => {
    if (helm === undefined) return;
    const { objects } = await helm.template(everything);
    const { template } = set.parse(of(objects, 'StatefulSet')).spec;
    const [container] = template.spec.containers;
    expect(container).toMatchObject({
      image: everything.image.repository + '@' + everything.image.digest,
      ports: [
        { name: 'http', containerPort: 8080 },
        { name: 'metrics', containerPort: 9464 },
      ],
      envFrom: [{ secretRef: { name: 'of-the-gateways' } }],
    });
    expect(of(objects, 'StatefulSet')).toMatchObject({
      spec: {
        replicas: 3,
        volumeClaimTemplates: [{ spec: { storageClassName: 'fast', resources: { requests: { storage: '20Gi' } } } }],
      },
    });
    expect(of(objects, 'Ingress')).toMatchObject({
      metadata: { annotations: { a: 'b' } },
      spec: {
        ingressClassName: 'nginx',
        tls: [{ hosts: ['mcp.example.com'], secretName: 'certificate' }],
        rules: [
          {
            host: 'mcp.example.com',
            http: { paths: [{ path: '/', backend: { service: { name: 'acme-sightline', port: { name: 'http' } } } }] },
          },
        ],
      },
    });
    expect(of(objects, 'PodMonitor')).toMatchObject({
      metadata: { labels: { release: 'prometheus' } },
      spec: {
        jobLabel: 'app.kubernetes.io/name',
        selector: { matchLabels: labels },
        podMetricsEndpoints: [{ port: 'metrics', path: '/metrics' }],
      },
    });
    expect(of(objects, 'NetworkPolicy')).toMatchObject({
      spec: {
        podSelector: { matchLabels: labels },
        policyTypes: ['Ingress'],
        ingress: [
          { ports: [{ protocol: 'TCP', port: 'http' }], from: [{ podSelector: {} }] },
          { ports: [{ protocol: 'TCP', port: 'metrics' }], from: [{ namespaceSelector: {} }] },
        ],
      },
    });
    // Only peers that the policy names may read the metrics.
    const closed = of((await helm.template({ ...embedded, metrics: { enabled: true } })).objects, 'NetworkPolicy');
    expect(closed).toMatchObject({ spec: { ingress: [{ ports: [{ port: 'http' }] }] } });
  });

  it.each([
    ['embedded', embedded],
    ['everything', everything],
  ])('%s: gives the gateway a config that is one', async (name, values) => {
    if (helm === undefined) return;
    const { objects } = await helm.template(values);
    const file = 'sightline.config.yaml';
    const configMap = z.object({ data: z.strictObject({ [file]: z.string() }) }).parse(of(objects, 'ConfigMap'));
    const text = configMap.data[file];
    const path = join(directory, `${name}-${file}`);
    await writeFile(path, text);
    const { config } = await loadConfig({ file: path, cwd: directory, env: secrets, overrides: {} });
    for (const kind of ['storage', 'issuer', 'telemetry', 'agent'] as const) await loadPlugin(kind, config[kind], path);
    const metrics = { enabled: name === 'everything', port: 9464 };
    expect(config).toMatchObject({
      publicUrl: url,
      trustProxy: 1,
      listen: { host: '0.0.0.0', port: 8080, leaveSeconds: 15 },
      ownTelemetry: { prometheus: metrics.enabled ? { ...metrics, host: '0.0.0.0' } : metrics },
    });
  });

  it('rolls the pods when the config changes', async () => {
    if (helm === undefined) return;
    const sums = await Promise.all(
      [embedded, embedded, { ...embedded, config: { log: { level: 'warn' } } }].map(async (values) => {
        const { objects } = (await helm?.template(values)) ?? { objects: [] };
        return set.parse(of(objects, 'StatefulSet')).spec.template.metadata.annotations['checksum/config'];
      }),
    );
    expect(sums[0]).toBe(sums[1]);
    expect(sums[2]).not.toBe(sums[0]);
  });

  it.each([
    ['no address', {}, 'Set publicUrl, where clients reach the gateway'],
    ['replicas of embedded storage', { ...embedded, replicas: 2 }, 'Set config.storage.client to postgres or mysql'],
    [
      'replicas of embedded telemetry',
      { ...embedded, replicas: 2, config: { storage: { client: 'postgres' } } },
      'Set config.telemetry.plugin to a warehouse',
    ],
    [
      'a monitor of nothing',
      { ...embedded, metrics: { podMonitor: { enabled: true } } },
      'Set metrics.enabled as well.',
    ],
  ])('refuses %s, with what to set', async (_what, values, message) => {
    if (helm === undefined) return;
    await expect(helm.template(values)).rejects.toThrow(message);
  });

  it('has a schema that takes its values and refuses what is misspelt', async () => {
    const schema = z
      .record(z.string(), z.unknown())
      .parse(JSON.parse(await readFile(join(root, 'deploy/helm/values.schema.json'), 'utf8')));
    const valid = new Ajv({ strict: true }).compile(schema);
    const defaults = z.record(z.string(), z.unknown()).parse(await read('deploy/helm/values.yaml'));
    const isValid = (values: object): boolean => valid({ ...defaults, ...values });
    expect([isValid(embedded), isValid(everything)]).toEqual([true, true]);
    const sections = Object.entries(defaults).flatMap(([key, value]) =>
      typeof value === 'object' && value !== null && !['config', 'resources'].includes(key)
        ? [[key, value] as const]
        : [],
    );
    expect(sections.length).toBeGreaterThanOrEqual(5);
    for (const [key, value] of sections)
      expect([key, isValid({ ...embedded, [key]: { ...value, misspelt: 1 } })]).toEqual([key, false]);
    expect(isValid({ ...embedded, replica: 2 })).toBe(false);
    expect(isValid({})).toBe(false);
  });
});
