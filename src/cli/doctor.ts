import { z } from 'zod';
import type { Finding } from '../contract/telemetry/index.ts';
import { act, type Register } from './command.ts';
import { Exit } from './exit.ts';
import { examine } from './examination.ts';
import { pasteable, printable, type Output } from './output.ts';

const marks = { ok: ['green', 'ok  '], warn: ['yellow', 'warn'], fail: ['red', 'FAIL'] } as const;

export const register: Register = (program, output, summary) => {
  const command = program.command('doctor').description(summary);
  act(command, output, z.object({}), async ({ settings }) => {
    const findings = await examine(settings);
    const ok = findings.every(({ status }) => status !== 'fail');
    output.result({ ok, checks: findings }, () => findingsTable(findings, output));
    if (!ok) throw new Exit(1);
  });
};

export function findingsTable(findings: readonly Finding[], output: Output): string {
  const width = Math.max(...findings.map(({ check }) => check.length)) + 2;
  const lines = findings.map(({ status, check, detail, hint }) => {
    const [colour, mark] = marks[status];
    const said = hint === undefined ? [] : pasteable(printable(hint)).split('\n');
    const advice = said.map((line) => `\n      ${' '.repeat(width)}${line}`);
    return `${output.style(colour, mark)}  ${check.padEnd(width)}${printable(detail)}${advice.join('')}`;
  });
  return lines.join('\n');
}
