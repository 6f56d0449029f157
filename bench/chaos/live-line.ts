import type { Traffic } from './traffic.ts';

const plainEveryMs = 10_000;
const drawEveryMs = 250;
const width = 30;

export interface LiveLine {
  /** What happens now. */
  doing(what: string): void;
  end(): void;
}

/** On standard error: a bar on a terminal, elsewhere a line now and then. */
export function liveLine(seconds: number, traffic: Traffic): LiveLine {
  const { stderr } = process;
  const begun = performance.now();
  let now = 'warming up';
  let done = 0;
  const draw = (): void => {
    const passed = Math.min(seconds, (performance.now() - begun) / 1_000);
    const filled = Math.round((passed / seconds) * width);
    const { sent, failed } = traffic;
    const said = `${passed.toFixed(0)}/${seconds} s  faults ${done}  sent ${sent}  failed ${failed.length}  ${now}`;
    if (stderr.isTTY) {
      const line = `[${'#'.repeat(filled).padEnd(width, '.')}] ${said}`;
      stderr.write(`\r\u001B[K${line.slice(0, (stderr.columns || 80) - 1)}`);
    } else {
      stderr.write(`${said}\n`);
    }
  };
  const timer = setInterval(draw, stderr.isTTY ? drawEveryMs : plainEveryMs);
  return {
    doing(what) {
      now = what;
      done += 1;
    },
    end() {
      clearInterval(timer);
      if (stderr.isTTY) stderr.write('\r\u001B[K');
    },
  };
}
