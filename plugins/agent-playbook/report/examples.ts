import type { Conclusion } from '../../../src/contract/storage/index.ts';
import type { Scene } from '../scene.ts';
import { describe as describeTrace, type Exemplars } from '../steps/exemplars.ts';
import { describe as describeLog, type LogPatterns } from '../steps/log-patterns.ts';
import { code } from '../sql.ts';
import { claim, neverChecked, nothingFound, type Report } from './findings.ts';

/** The worst traces, as asked for; no verdict. */
export function reportTraces(scene: Scene, { traces, evidenceId }: Exemplars, notes: readonly string[]): Report {
  return examples(scene, notes, {
    category: 'traces',
    claims: traces.map((trace) => claim(describeTrace(trace), [evidenceId])),
    headline: traces.length === 0 ? 'There is no trace to show' : `The ${traces.length} worst traces`,
    nextSteps: traces.length === 0 ? [] : ['Ask query_otel for all spans of a trace by its trace_id.'],
  });
}

/** Warnings and errors that stand out in the logs, as asked for; no verdict. */
export function reportLogs(scene: Scene, { worse, evidenceId }: LogPatterns, notes: readonly string[]): Report {
  const shown = worse.slice(0, 8);
  return examples(scene, notes, {
    category: 'logs',
    claims: shown.map((line) => claim(`${describeLog(line)}, such as ${code(line.example, 240)}`, [evidenceId])),
    headline:
      shown.length === 0
        ? 'No warning or error in the logs is new or more frequent'
        : `The ${shown.length} warnings and errors that stand out in the logs`,
    nextSteps: [],
  });
}

function examples(
  { focus, notebook, windows }: Scene,
  notes: readonly string[],
  shown: Pick<Conclusion, 'category' | 'claims'> & Pick<Report, 'headline' | 'nextSteps'>,
): Report {
  const { category, claims, headline, nextSteps } = shown;
  return {
    ...nothingFound,
    conclusion: {
      root_cause: '',
      category,
      service: focus.services[0] ?? '',
      confidence: 'none',
      claims,
      not_checked: [...notebook.unanswered, ...neverChecked],
    },
    headline,
    windows,
    nextSteps,
    notes,
  };
}
