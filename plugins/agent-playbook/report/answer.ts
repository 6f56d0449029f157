import type { Noted } from '../notebook.ts';
import { moment, fenced } from '../sql.ts';
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
    ['Evidence', steps.length === 0 ? none : steps.map(evidenceBlock).join('\n\n')],
    ['Ruled out', report.ruledOut.length === 0 ? none : bullets(report.ruledOut)],
    ['Next steps', report.nextSteps.length === 0 ? none : bullets(report.nextSteps)],
    [
      'Open questions',
      bullets([...report.openQuestions, ...(conclusion.not_checked ?? []).map((what) => `Not checked: ${what}.`)]),
    ],
  ];
  return `${sections.map(([title, body]) => `## ${title}\n\n${body === '' ? none : body}`).join('\n\n')}\n`;
}

export function evidenceBlock({ evidence_id: id, question, verdict, observation, sql }: Noted): string {
  return `**${id}** ${question} (${verdict})\n\n${observation}\n\n${fenced(sql, 'sql')}`;
}

/** The answer in the chat: Markdown, telemetry only in code spans. */
export function writeAnswer(report: Report, steps: readonly Noted[]): string {
  const { conclusion, headline, windows, notes } = report;
  const blocks = [`**${headline}**${conclusion.confidence === 'none' ? '' : ` (${conclusion.confidence} confidence)`}`];
  if (conclusion.root_cause !== '') blocks.push(conclusion.root_cause);
  if (conclusion.claims.length > 0) blocks.push(conclusion.claims.map(claimLine).join('\n'));
  if (report.nextSteps.length > 0) blocks.push(`Next:\n${bullets(report.nextSteps)}`);
  const about = [...(windows ? [comparedLine(windows)] : []), ...notes];
  if (about.length > 0) blocks.push(about.join(' '));
  if (steps.length > 0)
    blocks.push(`Evidence:\n${bullets(steps.map((step) => `${step.evidence_id}: ${step.observation}`))}`);
  if (conclusion.not_checked && conclusion.not_checked.length > 0) {
    blocks.push(`Not checked: ${conclusion.not_checked.join('; ')}.`);
  }
  return blocks.join('\n\n');
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
