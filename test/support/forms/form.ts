import { z } from 'zod';

/**
 * The forms in which whole gateways are tested besides the plain one, which is a process on SQLite:
 * `postgres` and `mysql`: two gateways behind a proxy that gives them requests in turn, storage on that server, telemetry in
 * PostgreSQL; `workers`: two workers over SQLite and embedded telemetry.
 */
export const forms = ['postgres', 'mysql', 'workers'] as const;
export type Form = (typeof forms)[number];

/** Where several gateways may keep their workspace together. */
export type SharedStorage = Exclude<Form, 'workers'>;

/** SIGHTLINE_TEST_FORM: the form of this run. */
const form = z
  .enum(forms)
  .optional()
  .parse(process.env['SIGHTLINE_TEST_FORM'] || undefined);

/** What all tests that name no storage run on, else SQLite. */
export const storageOfAll: SharedStorage | undefined = form === 'workers' ? undefined : form;

/** Of each gateway that names no number. */
export const workersOfAll = form === 'workers' ? 2 : 1;
