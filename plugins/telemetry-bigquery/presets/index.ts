import type { MappingPreset } from '../../../src/contract/telemetry/index.ts';
import { googleCloud } from './google-cloud.ts';
import { otelCollector } from './otel-collector.ts';

export const presets: readonly MappingPreset[] = [googleCloud, otelCollector];
