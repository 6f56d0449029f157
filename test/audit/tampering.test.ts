import { sqliteStore } from './support/store.ts';
import { tamperingPromises } from './support/tampering.ts';

tamperingPromises(sqliteStore);
