import { z } from 'zod';

/*
 * The parts of compose and Kubernetes that our files use, strictly: a key that is misspelt, or stands where the API does not
 * look, is an error. From the Compose specification and the API reference of Kubernetes 1.32.
 */

const texts = z.record(z.string(), z.string());
const command = z.array(z.string());

const composeService = z.strictObject({
  build: z.string().optional(),
  image: z.string(),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  restart: z.enum(['no', 'always', 'on-failure', 'unless-stopped']).optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  user: z
    .string()
    .regex(/^\d+:\d+$/)
    .optional(),
  entrypoint: command.optional(),
  command: command.optional(),
  environment: texts.optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/)).optional(),
  volumes: z.array(z.string().regex(/^[\w./-]+:\/[\w./-]+(:ro)?$/)).optional(),
  network_mode: z.string().startsWith('service:').optional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .optional(),
  healthcheck: z.strictObject({ test: command, interval: z.string().regex(/^\d+s$/), retries: z.int() }).optional(),
});

export const compose = z.strictObject({
  'x-sightline': z.unknown().optional(),
  services: z.record(z.string(), composeService),
  volumes: z.record(z.string(), z.null()),
});

export const realm = z.object({
  realm: z.string(),
  enabled: z.literal(true),
  roles: z.object({ realm: z.array(z.object({ name: z.string() })) }),
  clients: z.array(z.object({ clientId: z.string(), redirectUris: z.array(z.string()) })),
});

export const kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  resources: z.array(z.string()),
  labels: z
    .array(z.strictObject({ pairs: texts, includeSelectors: z.literal(true), includeTemplates: z.literal(true) }))
    .optional(),
  replicas: z.array(z.strictObject({ name: z.string(), count: z.int() })).optional(),
  configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })).optional(),
  patches: z.array(z.strictObject({ path: z.string() })).optional(),
});

const metadata = z.strictObject({ name: z.string() });
/** Filled in by kustomize's labels. */
const selector = z.strictObject({ matchLabels: z.strictObject({}) });
const amounts = z.strictObject({ cpu: z.string().optional(), memory: z.string().regex(/^\d+[MG]i$/) });
const requirements = z.strictObject({ requests: amounts, limits: amounts.required({ memory: true }) });
const claims = z.array(
  z.strictObject({
    metadata,
    spec: z.strictObject({
      accessModes: z.tuple([z.literal('ReadWriteOncePod')]),
      resources: z.strictObject({ requests: z.strictObject({ storage: z.string().regex(/^\d+Gi$/) }) }),
    }),
  }),
);
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  periodSeconds: z.int(),
  timeoutSeconds: z.int().optional(),
  failureThreshold: z.int().optional(),
});

const container = z.strictObject({
  name: z.literal('sightline'),
  image: z.string(),
  args: command,
  ports: z.tuple([z.strictObject({ name: z.string(), containerPort: z.int() })]),
  envFrom: z.array(z.strictObject({ secretRef: metadata })),
  securityContext: z.strictObject({
    readOnlyRootFilesystem: z.literal(true),
    allowPrivilegeEscalation: z.literal(false),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe.required({ failureThreshold: true }),
  resources: requirements,
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true).optional() }),
  ),
});

export const statefulSet = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('StatefulSet'),
  metadata,
  spec: z.strictObject({
    serviceName: z.string(),
    replicas: z.int(),
    podManagementPolicy: z.literal('Parallel'),
    selector,
    template: z.strictObject({
      metadata: z.strictObject({}),
      spec: z.strictObject({
        serviceAccountName: z.string(),
        automountServiceAccountToken: z.literal(false),
        enableServiceLinks: z.literal(false),
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: z.int(),
          runAsGroup: z.int(),
          fsGroup: z.int(),
          fsGroupChangePolicy: z.literal('OnRootMismatch'),
          seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
        }),
        topologySpreadConstraints: z.array(
          z.strictObject({
            maxSkew: z.int(),
            topologyKey: z.string(),
            whenUnsatisfiable: z.literal('ScheduleAnyway'),
            labelSelector: z.strictObject({ matchLabels: texts }),
          }),
        ),
        containers: z.tuple([container]),
        volumes: z.array(z.strictObject({ name: z.string(), configMap: metadata })),
      }),
    }),
    volumeClaimTemplates: claims,
  }),
});

export const resources = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('StatefulSet'),
  metadata,
  spec: z.strictObject({
    template: z.strictObject({
      spec: z.strictObject({
        containers: z.tuple([z.strictObject({ name: z.literal('sightline'), resources: requirements })]),
      }),
    }),
    volumeClaimTemplates: claims,
  }),
});

const servicePort = z.strictObject({ name: z.string(), port: z.int(), targetPort: z.string() });
export const service = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Service'),
  metadata,
  spec: z.strictObject({
    clusterIP: z.literal('None').optional(),
    selector: z.strictObject({}),
    ports: z.tuple([servicePort]),
  }),
});

export const serviceAccount = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('ServiceAccount'),
  metadata,
  automountServiceAccountToken: z.literal(false),
});

export const disruptionBudget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.strictObject({ maxUnavailable: z.int(), selector }),
});

export const secret = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata,
  stringData: texts,
});
