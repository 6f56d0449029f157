import type { Noted } from '../notebook.ts';
import { fenced, moment } from '../quote.ts';
import { bullets, claimLine, comparedLine } from './answer.ts';
import type { Report } from './findings.ts';

/** The incident's document, with the sections that incident documents have. */
export function writeDocument(report: Report, steps: readonly Noted[]): string {
  const { conclusion, windows } = report;
  const none = '_Nothing to report._';
  const sections: readonly (readonly [title: string, body: string])[] = [
    [
      'Summary',
      [`${report.headline}.`, windows ? comparedLine(windows) : '', ...report.notes].filter(Boolean).join(' '),
    ],
    ['Impact', report.impact.length === 0 ? none : bullets(report.impact)],
    [
      'Timeline',
      report.timeline.length === 0 ? none : bullets(report.timeline.map(({ at, what }) => `${moment(at)}: ${what}`)),
    ],
    [
      'Root cause',
      [
        conclusion.root_cause === '' ? 'Not found.' : `${conclusion.root_cause} (confidence: ${conclusion.confidence})`,
        conclusion.claims.map(claimLine).join('\n'),
      ]
        .filter(Boolean)
        .join('\n\n'),
    ],
    ['Evidence', steps.length === 0 ? none : steps.map(evidence).join('\n\n')],
    ['Ruled out', report.ruledOut.length === 0 ? none : bullets(report.ruledOut)],
    ['Next steps', report.nextSteps.length === 0 ? none : bullets(report.nextSteps)],
    [
      'Open questions',
      bullets([...report.openQuestions, ...(conclusion.not_checked ?? []).map((what) => `Not checked: ${what}.`)]),
    ],
  ];
  return `${sections.map(([title, body]) => `## ${title}\n\n${body === '' ? none : body}`).join('\n\n')}\n`;
}

function evidence({ evidence_id: id, question, verdict, observation, sql }: Noted): string {
  return `**${id}** ${question} (${verdict})\n\n${observation}\n\n${fenced(sql, 'sql')}`;
}
