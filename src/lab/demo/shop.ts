import type { Random } from './random.ts';
import { keyValues, type Resource, type Scope } from './otlp.ts';

export const serviceNames = [
  'frontend',
  'cart',
  'checkout',
  'payment',
  'product-catalog',
  'recommendation',
  'shipping',
  'email',
  'currency',
  'ad',
  'inventory',
  'accounting',
] as const;
export type ServiceName = (typeof serviceNames)[number];

type Runtime = keyof typeof runtimes;

const runtimes = {
  nodejs: { sdk: 'nodejs', runtime: 'nodejs', version: '24.11.0', scope: '@opentelemetry/instrumentation-http' },
  dotnet: { sdk: 'dotnet', runtime: '.NET', version: '10.0.1', scope: 'Microsoft.AspNetCore' },
  go: { sdk: 'go', runtime: 'go', version: 'go1.26.1', scope: 'go.opentelemetry.io/contrib/otelgrpc' },
  python: { sdk: 'python', runtime: 'cpython', version: '3.13.5', scope: 'opentelemetry.instrumentation.grpc' },
  rust: { sdk: 'rust', runtime: 'rust', version: '1.90.0', scope: 'opentelemetry-tonic' },
  ruby: { sdk: 'ruby', runtime: 'ruby', version: '3.4.5', scope: 'OpenTelemetry::Instrumentation::Sinatra' },
  cpp: { sdk: 'cpp', runtime: 'cpp', version: '20', scope: 'currency' },
  java: { sdk: 'java', runtime: 'OpenJDK Runtime Environment', version: '25.0.1', scope: 'io.opentelemetry.grpc-1.6' },
} as const;

interface ServiceFacts {
  readonly runtime: Runtime;
  readonly version: string;
  readonly replicas: number;
  /** Bytes of one pod at rest. */
  readonly memory: number;
  /** Cores one pod uses at usual traffic. */
  readonly cpu: number;
}

const mebibyte = 1024 * 1024;

export const services = {
  frontend: { runtime: 'nodejs', version: '3.18.2', replicas: 3, memory: 210 * mebibyte, cpu: 0.34 },
  cart: { runtime: 'dotnet', version: '1.9.4', replicas: 2, memory: 160 * mebibyte, cpu: 0.12 },
  checkout: { runtime: 'go', version: '5.2.0', replicas: 2, memory: 48 * mebibyte, cpu: 0.15 },
  payment: { runtime: 'nodejs', version: '2.3.7', replicas: 2, memory: 140 * mebibyte, cpu: 0.09 },
  'product-catalog': { runtime: 'go', version: '4.11.1', replicas: 2, memory: 44 * mebibyte, cpu: 0.22 },
  recommendation: { runtime: 'python', version: '1.14.0', replicas: 2, memory: 260 * mebibyte, cpu: 0.28 },
  shipping: { runtime: 'rust', version: '0.8.3', replicas: 2, memory: 22 * mebibyte, cpu: 0.05 },
  email: { runtime: 'ruby', version: '1.3.1', replicas: 2, memory: 120 * mebibyte, cpu: 0.06 },
  currency: { runtime: 'cpp', version: '1.2.6', replicas: 2, memory: 16 * mebibyte, cpu: 0.04 },
  ad: { runtime: 'java', version: '2.7.0', replicas: 2, memory: 420 * mebibyte, cpu: 0.18 },
  inventory: { runtime: 'java', version: '3.4.2', replicas: 2, memory: 510 * mebibyte, cpu: 0.21 },
  accounting: { runtime: 'dotnet', version: '1.1.8', replicas: 2, memory: 150 * mebibyte, cpu: 0.07 },
} as const satisfies Record<ServiceName, ServiceFacts>;

export const nodes = [
  { name: 'shop-node-1', zone: 'eu-central-1a' },
  { name: 'shop-node-2', zone: 'eu-central-1b' },
  { name: 'shop-node-3', zone: 'eu-central-1c' },
  { name: 'shop-node-4', zone: 'eu-central-1a' },
] as const;
export type Node = (typeof nodes)[number];

export interface Pod {
  readonly service: ServiceName;
  readonly version: string;
  readonly name: string;
  readonly node: Node;
  /** 0, 1, … within the service: what a fault of one pod picks it by. */
  readonly index: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly resource: Resource;
  readonly scope: Scope;
}

/** Milliseconds between the pods of a rolling release. */
const podInterval = 25_000;

/** The pods of one release of a service, the first of which starts at `from`. */
export function rollOut(
  service: ServiceName,
  version: string,
  { from, nodeOffset }: { readonly from: number; readonly nodeOffset: number },
  random: Random,
): Pod[] {
  const facts = services[service];
  const runtime = runtimes[facts.runtime];
  const replicaSet = random.hex(5).slice(0, 9);
  return Array.from({ length: facts.replicas }, (_, index) => {
    const node = nodes[(serviceNames.indexOf(service) + index * 2 + nodeOffset) % nodes.length] ?? nodes[0];
    const name = `${service}-${replicaSet}-${random.hex(3).slice(0, 5)}`;
    return {
      service,
      version,
      name,
      node,
      index,
      startedAt: from + index * podInterval,
      scope: { name: runtime.scope, version: '0.62.0' },
      resource: {
        attributes: keyValues({
          'service.name': service,
          'service.namespace': 'shop',
          'service.version': version,
          'service.instance.id': name,
          'deployment.environment.name': 'production',
          'host.name': node.name,
          'k8s.cluster.name': 'shop-eu',
          'k8s.namespace.name': 'shop',
          'k8s.deployment.name': service,
          'k8s.pod.name': name,
          'k8s.node.name': node.name,
          'container.image.name': `registry.shop.example/${service}`,
          'container.image.tag': version,
          'cloud.provider': 'aws',
          'cloud.region': 'eu-central-1',
          'cloud.availability_zone': node.zone,
          'process.runtime.name': runtime.runtime,
          'process.runtime.version': runtime.version,
          'telemetry.sdk.name': 'opentelemetry',
          'telemetry.sdk.language': runtime.sdk,
          'telemetry.sdk.version': '1.40.0',
        }),
      },
    };
  });
}

export function nextPatch(version: string): string {
  const [major, minor, patch] = version.split('.');
  return `${major}.${minor}.${Number(patch) + 1}`;
}

/** What the collector's host receiver sends: no service.name. */
export function nodeResource(node: Node): Resource {
  return {
    attributes: keyValues({
      'host.name': node.name,
      'k8s.cluster.name': 'shop-eu',
      'k8s.node.name': node.name,
      'deployment.environment.name': 'production',
      'cloud.provider': 'aws',
      'cloud.region': 'eu-central-1',
      'cloud.availability_zone': node.zone,
    }),
  };
}

export const products = [
  ['SKU-1001', 'Trail tent for two', 189.9],
  ['SKU-1002', 'Down sleeping bag', 239.5],
  ['SKU-1003', 'Gas stove', 64.95],
  ['SKU-1004', 'Titanium pot', 49],
  ['SKU-1005', 'Head torch', 38.5],
  ['SKU-1006', 'Rope, 60 m', 149.9],
  ['SKU-1007', 'Climbing harness', 89.95],
  ['SKU-1008', 'Rain jacket', 219],
  ['SKU-1009', 'Water filter', 42.9],
  ['SKU-1010', 'Ridge map 1:25000', 12.5],
] as const;
