import { evidencePage } from './evidence.ts';
import { incidentPage } from './incident.ts';
import { incidentsPage } from './list.ts';

export const incidentPages = [incidentsPage, incidentPage, evidencePage] as const;
