export { agentContract, type AgentUnderTest } from './agent.ts';
export { alertsContract, noticeFaults, noticesOf, type AlertProof, type AlertsUnderTest } from './alerts.ts';
export { noOrganizations, silentLogger, testHost, testVault } from './host.ts';
export {
  isolationContract,
  legitimateContract,
  type HostileCorpus,
  type HostileStatement,
  type IsolationLayer,
  type IsolationTargets,
  type IsolationUnderTest,
  type LegitimateStatement,
} from './isolation.ts';
export { withheldPrefix } from './isolation-rows.ts';
export { issuerContract, type IssuerUnderTest } from './issuer.ts';
export { lifecycleContract, type ComponentUnderTest } from './lifecycle.ts';
export type { Expectation, Matchers, Runner } from './runner.ts';
export { storageContract, type StorageUnderTest } from './storage.ts';
export { telemetryContract, type TelemetryUnderTest } from './telemetry.ts';
export { batch, type Row } from './telemetry-rows.ts';
export type { WarehouseUnderTest } from './telemetry/warehouse.ts';
