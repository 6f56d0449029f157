import { evidenceLead } from '../../../src/contract/agent/index.ts';
import { shortened } from '../../../src/contract/core/index.ts';
import type { Noted } from '../notebook.ts';
import { code, fenced, moment, names } from '../sql.ts';
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
        conclusion.root_cause === '' ? 'Not found.' : causeLine(conclusion, ` (confidence: ${conclusion.confidence})`),
        furtherClaims(conclusion).map(claimLine).join('\n'),
        otherSuspects(conclusion),
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

/** Evidence that the reader finds named. */
function citedIn({ claims, suspicions = [] }: Report['conclusion']): ReadonlySet<string> {
  return new Set([...claims, ...suspicions].flatMap(({ evidence_ids: ids }) => ids));
}

/** The whole observation, the SQL and the rows are the step's own. */
function evidenceLine({ evidence_id: id, question, verdict, observation }: Noted): string {
  return `**${id}** ${question} ${shortened(observation, 160)} (${verdict})`;
}

export function evidenceBlock({ evidence_id: id, question, verdict, observation, sql }: Noted): string {
  return `**${id}** ${question} (${verdict})\n\n${observation}\n\n${fenced(sql, 'sql')}`;
}

/** What a question asks about, and the words by which it is ruled out. */
const topics: readonly (readonly [asked: RegExp, ruledOut: RegExp])[] = [
  [/\bslow|\blatenc|\btime-?outs?\b|\btakes? (?:so )?long/i, /slowness/],
  [/\bfail|\berrors?\b|\bbr[eo]ak|\bbroke/i, /failures/],
  [/\blogs?\b/i, /in the logs/],
  [/\bcpu\b|\bmemory\b|\bdisk\b|\bresources?\b/i, /resource/],
  [/\bdeploy|\breleases?\b|\bversions?\b/i, /version/],
];

/** Where something else was found, what was asked about is answered, too. */
function ruledOutOf({ ruledOut, conclusion }: Report, asked: string): string {
  const about = topics.filter(([question]) => question.test(asked));
  const lines = ruledOut.filter((line) => about.some(([, topic]) => topic.test(line)));
  return conclusion.service === '' || lines.length === 0 ? '' : `Looked for, and not found:\n${bullets(lines)}`;
}

/** The answer in the chat: Markdown, telemetry only in code spans. */
export function writeAnswer(report: Report, steps: readonly Noted[], asked: string): string {
  const { conclusion, headline, windows, notes, nextSteps } = report;
  const { confidence, not_checked: unchecked = [] } = conclusion;
  const shown = citedIn(conclusion);
  const observed = steps
    .filter(({ evidence_id: id }) => shown.has(id))
    .map((step) => `${step.evidence_id}: ${step.observation}`);
  const blocks = [
    `**${headline}**${confidence === 'none' ? '' : ` (${confidence} confidence)`}`,
    causeLine(conclusion),
    ruledOutOf(report, asked),
    furtherClaims(conclusion).map(claimLine).join('\n'),
    otherSuspects(conclusion),
    nextSteps.length === 0 ? '' : `Next:\n${bullets(nextSteps)}`,
    [...(windows ? [comparedLine(windows)] : []), ...notes].join(' '),
    unchecked.length === 0 ? '' : `Not checked: ${unchecked.join('; ')}.`,
    observed.length === 0 ? '' : `${evidenceLead}\n${bullets(observed)}`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

/** Services that stand out beside the one that is blamed, with what speaks for and against each. */
function otherSuspects({ service, suspects = [], suspicions = [] }: Report['conclusion']): string {
  const others = suspicions.filter((one) => one.service !== service);
  const told = new Set([service, ...others.map((one) => one.service)]);
  const rest = suspects.filter((name) => !told.has(name)).slice(0, Math.max(0, 5 - others.length));
  const lines = [
    ...others.map(
      ({ service: name, why, why_not: not, evidence_ids: ids }) =>
        `${code(name, 60)}: ${why}${not === undefined ? '' : ` Against it: ${not}`}${ids.length === 0 ? '' : ` [${ids.join(', ')}]`}`,
    ),
    ...(rest.length === 0 ? [] : [`${names(rest)}: may be chance alone.`]),
  ];
  return lines.length === 0 ? '' : `${service === '' ? 'Look first at' : 'Also looks unusual'}:\n${bullets(lines)}`;
}

/** The claim that the root cause repeats is not said twice. */
export function furtherClaims({ root_cause: cause, claims }: Report['conclusion']): Report['conclusion']['claims'] {
  const [first, ...rest] = claims;
  return first !== undefined && cause.startsWith(first.text.slice(0, -1)) ? rest : claims;
}

/** Evidence comes last: brackets before others would make a link. */
export function causeLine(conclusion: Report['conclusion'], confidence = ''): string {
  const { root_cause: cause, claims } = conclusion;
  const ids = furtherClaims(conclusion) === claims ? [] : (claims[0]?.evidence_ids ?? []);
  return `${cause}${confidence}${ids.length === 0 ? '' : ` [${ids.join(', ')}]`}`;
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
