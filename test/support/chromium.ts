import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { LaunchOptions } from 'playwright-core';

/** The machine's Chromium: CHROMIUM_PATH, else the first by one of its names. The headless shell draws the same in two thirds of the time. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const named = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  );
  const given = process.env['CHROMIUM_PATH'];
  return (given === undefined ? named : [given]).find(isExecutable);
}

export function launchOptions(executablePath: string): LaunchOptions {
  // Chromium's sandbox refuses to run as root, as tests in a container do.
  return { executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
