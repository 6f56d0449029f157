import { shortened } from '../../../src/contract/core/index.ts';
import type { Noted } from '../notebook.ts';
import { fenced, moment, names } from '../sql.ts';
import type { Report } from './findings.ts';

/** The incident's document, with the sections that incident documents have. */
export function writeDocument(report: Report, steps: readonly Noted[]): string {
  const { conclusion, windows } = report;
  const cited = new Set(conclusion.claims.flatMap(({ evidence_ids: ids }) => ids));
  const sections: readonly (readonly [title: string, body: string])[] = [
    [
      'Summary',
      [`${report.headline}.`, windows ? comparedLine(windows) : '', ...report.notes].filter(Boolean).join(' '),
    ],
    ['Impact', bullets(report.impact)],
    [
      'Root cause',
      [
        conclusion.root_cause === '' ? 'Not found.' : `${conclusion.root_cause} (confidence: ${conclusion.confidence})`,
        conclusion.claims.map(claimLine).join('\n'),
      ]
        .filter(Boolean)
        .join('\n\n'),
    ],
    ['Next steps', bullets(report.nextSteps)],
    [
      'Open questions',
      bullets([...report.openQuestions, ...(conclusion.not_checked ?? []).map((what) => `Not checked: ${what}.`)]),
    ],
    ['Timeline', bullets(report.timeline.map(({ at, what }) => `${moment(at)}: ${what}`))],
    ['Ruled out', bullets(report.ruledOut)],
    ['Evidence', bullets(steps.filter(({ evidence_id: id }) => cited.has(id)).map(evidenceLine))],
  ];
  return `${sections.map(([title, body]) => `## ${title}\n\n${body === '' ? '_Nothing to report._' : body}`).join('\n\n')}\n`;
}

/** The whole observation, the SQL and the rows are the step's own. */
function evidenceLine({ evidence_id: id, question, verdict, observation }: Noted): string {
  return `**${id}** ${question} ${shortened(observation, 160)} (${verdict})`;
}

export function evidenceBlock({ evidence_id: id, question, verdict, observation, sql }: Noted): string {
  return `**${id}** ${question} (${verdict})\n\n${observation}\n\n${fenced(sql, 'sql')}`;
}

/** The answer in the chat: Markdown, telemetry only in code spans. */
export function writeAnswer(report: Report, steps: readonly Noted[]): string {
  const { conclusion, headline, windows, notes, nextSteps } = report;
  const { confidence, root_cause: cause, claims, not_checked: unchecked = [] } = conclusion;
  const observed = steps.map((step) => `${step.evidence_id}: ${step.observation}`);
  const blocks = [
    `**${headline}**${confidence === 'none' ? '' : ` (${confidence} confidence)`}`,
    cause,
    claims.map(claimLine).join('\n'),
    alsoUnusual(conclusion),
    nextSteps.length === 0 ? '' : `Next:\n${bullets(nextSteps)}`,
    [...(windows ? [comparedLine(windows)] : []), ...notes].join(' '),
    observed.length === 0 ? '' : `Evidence:\n${bullets(observed)}`,
    unchecked.length === 0 ? '' : `Not checked: ${unchecked.join('; ')}.`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Services that stand out beside the one that is blamed. */
function alsoUnusual({ service, suspects = [] }: Report['conclusion']): string {
  const others = suspects.filter((name) => name !== service).slice(0, 5);
  if (others.length === 0) return '';
  return `${service === '' ? 'Look first at' : 'Also looks unusual:'} ${names(others)}.`;
}

export function claimLine({ text, status, evidence_ids: ids }: Report['conclusion']['claims'][number]): string {
  return `- ${status === 'hypothesis' ? 'Perhaps: ' : ''}${text}${ids.length === 0 ? '' : ` [${ids.join(', ')}]`}`;
}

function comparedLine({ now, before }: NonNullable<Report['windows']>): string {
  const looked = `Looked at ${moment(now.start)} to ${moment(now.end)}`;
  return before === undefined
    ? `${looked}; there is nothing earlier to compare with.`
    : `${looked}, against ${moment(before.start)} to ${moment(before.end)}.`;
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}
