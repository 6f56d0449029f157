/** The colors of pages, views and pictures, as custom properties. */
export const palette = {
  light: `
  --page: #f6f7f9; --surface: #ffffff; --line: #d9dee5; --edge: #7c8796;
  --text: #18202b; --soft: #535e6c; --accent: #1f4fd8; --accent-strong: #173da8; --on-accent: #ffffff;
  --danger: #b3261e; --danger-soft: #fdecea; --warn-soft: #fff5dc; --warn-line: #c98a00; --good-soft: #e8f5ec; --good-line: #2c7a45;
  --code: #f0f2f5; --shadow: 0 1px 2px rgb(16 24 40 / .06), 0 8px 24px rgb(16 24 40 / .06);
  --gfx-0: #2458d3; --gfx-1: #9a4a00; --gfx-2: #14746f; --gfx-3: #7a3fb0; --gfx-4: #5b6675; --gfx-5: #a1356f;
  --gfx-bad: #b3261e; --gfx-grid: #d9dee5; --gfx-after: rgb(179 38 30 / .07);
`,
  dark: `
  --page: #10141a; --surface: #181e27; --line: #2c3542; --edge: #8b97a7;
  --text: #e8ecf2; --soft: #a8b3c1; --accent: #8fb0ff; --accent-strong: #b4caff; --on-accent: #0d1730;
  --danger: #ff9d94; --danger-soft: #3a1d1c; --warn-soft: #33290f; --warn-line: #d9a52e; --good-soft: #14301f; --good-line: #58b779;
  --code: #10151d; --shadow: 0 1px 2px rgb(0 0 0 / .4);
  --gfx-0: #8fb0ff; --gfx-1: #f0a35e; --gfx-2: #5cc8bf; --gfx-3: #c9a2f2; --gfx-4: #a8b3c1; --gfx-5: #f08fc0;
  --gfx-bad: #ff9d94; --gfx-grid: #2c3542; --gfx-after: rgb(255 157 148 / .1);
`,
} as const;
