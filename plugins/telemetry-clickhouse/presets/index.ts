import type { MappingPreset } from '../../../src/contract/telemetry/index.ts';
import { clickstack } from './clickstack.ts';
import { otelCollector } from './otel-collector.ts';
import { signoz } from './signoz.ts';
import { sightline } from './sightline.ts';

export const presets: readonly MappingPreset[] = [otelCollector, clickstack, signoz, sightline];
