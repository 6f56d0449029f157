import { changePage } from './change.ts';
import { documentPage } from './document.ts';
import { evidencePage } from './evidence.ts';
import { incidentPage } from './incident.ts';
import { incidentsPage } from './list.ts';

export const incidentPages = [incidentsPage, incidentPage, changePage, documentPage, evidencePage] as const;
