import type { Form } from './form.ts';

/** What is not run in some of the forms, and why it cannot. */
export interface Apart {
  readonly file: string;
  readonly forms: readonly Form[];
  readonly why: string;
}

const gateways: readonly Form[] = ['postgres', 'mysql'];
const all: readonly Form[] = [...gateways, 'workers'];

export const apart: readonly Apart[] = [
  ...['test/reload.test.ts', 'test/replicas.test.ts', 'test/workers.test.ts', 'test/workers-ending.test.ts'].map(
    (file) => ({
      file,
      forms: all,
      why: 'starts gateways of these forms itself, in every run',
    }),
  ),
  ...[
    'test/clients/page.test.ts',
    'test/docs/reader.test.ts',
    'test/eval.test.ts',
    'test/house.test.ts',
    'test/newcomer.test.ts',
    'test/shipping/manifests.test.ts',
    'test/shipping/sbom.test.ts',
    'test/tools-reference.test.ts',
    'test/warehouse-trouble.test.ts',
    'test/broken-configs.test.ts',
    'test/shipping/chart.test.ts',
  ].map((file) => ({
    file,
    forms: all,
    why: 'takes a temporary directory from the support, and starts no gateway by it',
  })),
  ...['test/same-answers.test.ts', 'test/playbook-warehouses.test.ts', 'test/warehouses-guide.test.ts'].map((file) => ({
    file,
    forms: gateways,
    why: 'is about the warehouses that it names itself, one gateway each',
  })),
  { file: 'test/organization-removal.test.ts', forms: gateways, why: 'turns the clock in the SQLite file itself' },
  ...[
    'test/shipping/package.test.ts',
    'test/shipping/plugin-folder.test.ts',
    'test/shipping/release.test.ts',
    'test/upgrade.test.ts',
  ].map((file) => ({
    file,
    forms: all,
    why: 'starts what is installed elsewhere, and not what is here',
  })),
  {
    file: 'test/transfer/telemetry.test.ts',
    forms: gateways,
    why: 'copies what the embedded engine kept in a data directory',
  },
  { file: 'test/clock.test.ts', forms: all, why: 'turns the clock of one process' },
  { file: 'test/full-disk.test.ts', forms: all, why: 'is about the disk of one gateway that keeps everything itself' },
  {
    file: 'test/log.test.ts',
    forms: all,
    why: 'reads what one process writes, under a configuration of its own',
  },
  {
    file: 'test/observability.test.ts',
    forms: all,
    why: 'reads the metrics of one process, under a configuration of its own',
  },
  {
    file: 'test/own-telemetry.test.ts',
    forms: all,
    why: 'gives each gateway a configuration of its own, and reads what one process tells of itself',
  },
  {
    file: 'test/cli-outside.test.ts',
    forms: all,
    why: 'gives its gateway a configuration of its own',
  },
  {
    file: 'test/cli-files.test.ts',
    forms: gateways,
    why: "reads SQLite's file",
  },
  {
    file: 'test/clients/quick.test.ts',
    forms: gateways,
    why: 'calls a gateway as localhost, by which one with a public URL is not served',
  },
  {
    file: 'test/boundary.test.ts',
    forms: gateways,
    why: 'its warehouse is a stand-in in the data directory, where several gateways cannot have it',
  },
];

/**
 * Test files in test/ that start no gateway and open no store by the support, and so are the same in every form. One that is
 * new and does neither is to be written down here.
 */
export const without: Readonly<Record<string, string>> = {
  'test/agent-contract.test.ts': 'agents by themselves',
  'test/audit/killed.test.ts': 'two processes that write over one storage, and are killed',
  'test/audit/tampering-servers.test.ts': "gateways' storages over each database that it names itself",
  'test/audit/tampering.test.ts': 'storages of several gateways by themselves',
  'test/authorization/clients-documents.test.ts': 'how one process fetches and keeps documents',
  'test/authorization/clients-fetch.test.ts': 'how one process fetches',
  'test/authorization/clients-redirects.test.ts': 'a rule about URLs',
  'test/chaos.test.ts': 'starts three gateways over a PostgreSQL of its own, in every run',
  'test/cost-guard.test.ts': 'a warehouse by itself',
  'test/no-secrets.test.ts': 'a check of the support by itself',
  'test/on-call.test.ts': 'an agent by itself',
  'test/playbook-conversation.test.ts': 'an agent by itself',
  'test/playbook-facts.test.ts': 'an agent by itself',
  'test/playbook-postgres.test.ts': 'an agent and a PostgreSQL by themselves',
  'test/playbook-replies.test.ts': 'an agent by itself',
  'test/playbook-reruns.test.ts': 'an agent and a warehouse by themselves',
  'test/small-statements.test.ts': 'a pipeline and a PostgreSQL by themselves',
  'test/soak.test.ts': 'starts one gateway for 500 organizations, in every run',
  'test/workers-burst.test.ts': 'processes that accept connections, and nothing else',
  'test/forms.test.ts': 'about the forms themselves',
  'test/ingest-crash.test.ts': 'a receiver by itself, which is killed',
  'test/injection/llm.test.ts': 'an agent by itself',
  'test/injection/playbook.test.ts': 'an agent by itself',
  'test/llm-agent.test.ts': 'an agent by itself',
  'test/llm-mcp-servers.test.ts': 'an agent by itself',
  'test/llm-questions.test.ts': 'an agent by itself',
  'test/mcp/abuse.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/bodies.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/wire-types.test.ts': 'types and constants alone',
  'test/mcp/calls.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/clients.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/conformance.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/large-answers.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/page-calls.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/views.test.ts': 'the endpoint with tools of its own, without storage',
  'test/mcp/wire.test.ts': 'the endpoint with tools of its own, without storage',
  'test/playbook-behaviour.test.ts': 'an agent by itself',
  'test/playbook-changes.test.ts': 'an agent by itself',
  'test/playbook-demo.test.ts': 'an agent by itself',
  'test/playbook-signals.test.ts': 'an agent by itself',
  'test/playbook.test.ts': 'an agent by itself',
  'test/query-otel.test.ts': 'a tool over the embedded engine',
  'test/statement-advice.test.ts': 'advice on text by itself',
  'test/schema-rules.test.ts': 'tools over a store of their own',
  'test/tool-budgets.test.ts': 'tools over a store of their own',
  'test/tools-read-only.test.ts': 'tools over a store of their own',
  'test/tools.test.ts': 'tools over a store of their own',
  'test/transfer/databases.test.ts': 'moves between all databases, in every run',
  'test/transfer/files.test.ts': 'a file by itself',
  'test/transfer/telemetry-clickhouse.test.ts': 'a warehouse by itself',
  'test/view-file.test.ts': 'a generated file',
  'test/web/html.test.ts': 'templates',
};
