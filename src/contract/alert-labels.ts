import { hash } from 'node:crypto';
import { z } from 'zod';
import { alertLine } from './alert-text.ts';

type Labels = Readonly<Record<string, unknown>>;

/** Labels as they come. Of their values texts, numbers and booleans count; a schema for each would walk a stranger's 100,000. */
export const alertLabelsSchema = z.custom<Labels>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'expected an object of texts',
);

/** The first 64 labels, their names at most 100 characters and their values at most 500. */
export function boundedLabels(labels: Labels): Record<string, string> {
  const kept = new Map<string, string>();
  for (const name of Object.keys(labels)) {
    if (kept.size === 64) break;
    const value = scalar(labels[name]);
    const key = alertLine(name, 100);
    if (value === undefined || key === '' || key === '__proto__' || kept.has(key)) continue;
    kept.set(key, alertLine(value, 500));
  }
  return Object.fromEntries(kept);
}

/** The fingerprint of an alert whose sender gives none: of what names it and of all its labels, in whatever order they come. */
export function fingerprintOf(names: readonly string[], labels: Labels): string {
  const pairs = Object.keys(labels)
    .toSorted()
    .flatMap((name) => {
      const value = scalar(labels[name]);
      return value === undefined ? [] : [[name, value]];
    });
  return hash('sha256', JSON.stringify([names, pairs]), 'hex');
}

/** The first of these labels that says something. */
export function firstLabel(labels: Labels, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(labels, name) ? scalar(labels[name]) : undefined;
    if (value !== undefined && value.trim() !== '') return value;
  }
  return undefined;
}

/** OpenTelemetry's names for the environment, as they are and as Prometheus writes them, then what people write. */
export const environmentLabels = [
  'deployment.environment.name',
  'deployment_environment_name',
  'deployment.environment',
  'deployment_environment',
  'environment',
  'env',
] as const;

function scalar(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
