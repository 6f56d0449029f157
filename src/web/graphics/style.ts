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

/** How pictures look, in the colors of the palette. Text has the same size at every width. */
export const graphicsStyle = `
.gfx { display: block; width: 100%; overflow: visible; font: 11px/1 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
.gfx text { fill: var(--text); }
.gfx .x, .gfx .y, .gfx .value { fill: var(--soft); }
.gfx .y { text-anchor: end; }
.gfx.plot { width: calc(100% - 3.4rem); margin-left: 3.2rem; }
.gfx .stretched, .gfx .glyph, .gfx .node { overflow: visible; }
.gfx .grid { stroke: var(--gfx-grid); stroke-width: 1; }
.gfx .axis { stroke: var(--edge); }
.gfx .after { fill: var(--gfx-after); }
.gfx .line { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.gfx .area { fill: var(--gfx-0); opacity: .15; }
.gfx .line-0 { stroke: var(--gfx-0); } .gfx .line-1 { stroke: var(--gfx-1); stroke-dasharray: 6 3; }
.gfx .line-2 { stroke: var(--gfx-2); stroke-dasharray: 2 3; } .gfx .line-3 { stroke: var(--gfx-3); stroke-dasharray: 10 3 2 3; }
.gfx .line-4 { stroke: var(--gfx-4); stroke-dasharray: 1 2; } .gfx .line-5 { stroke: var(--gfx-5); stroke-dasharray: 12 4; }
.gfx .bar-0, .gfx .bar.now { fill: var(--gfx-0); } .gfx .bar-1 { fill: var(--gfx-bad); }
.gfx .bar.before { fill: var(--surface); stroke: var(--gfx-0); }
.gfx .hit { fill: transparent; } .gfx .hit:hover { fill: var(--gfx-after); }
.gfx .mark line { stroke: var(--gfx-bad); stroke-width: 1.5; } .gfx .mark path { fill: var(--gfx-bad); }
.gfx .change line { stroke: var(--gfx-3); stroke-dasharray: 5 3; } .gfx .change path { fill: var(--gfx-3); }
.gfx .alert line { stroke: var(--gfx-1); stroke-dasharray: 1 3; } .gfx .alert path { fill: var(--gfx-1); }
.gfx .end line { stroke: var(--gfx-2); } .gfx .end path { fill: var(--gfx-2); }
.gfx .name { font-weight: 600; }
.gfx .s0 { fill: var(--gfx-0); } .gfx .s1 { fill: var(--gfx-1); } .gfx .s2 { fill: var(--gfx-2); }
.gfx .s3 { fill: var(--gfx-3); } .gfx .s4 { fill: var(--gfx-4); } .gfx .s5 { fill: var(--gfx-5); }
.gfx .failed text { fill: var(--gfx-bad); } .gfx .failed .bar { stroke: var(--gfx-bad); stroke-width: 2; }
.gfx .critical { fill: var(--text); }
.gfx .inside, .gfx .failed .inside { fill: var(--surface); }
.gfx .call line { stroke: var(--edge); stroke-width: 1; } .gfx .arrow { fill: var(--edge); }
.gfx .call.bad line { stroke: var(--gfx-bad); stroke-width: 2.5; } .gfx .bad .arrow { fill: var(--gfx-bad); }
.gfx .node text { text-anchor: middle; paint-order: stroke; stroke: var(--surface); stroke-width: 3px; }
.gfx .node circle { fill: var(--surface); stroke: var(--edge); stroke-width: 1.5; }
.gfx .node.suspect circle { stroke-dasharray: 3 2; } .gfx .node.affected circle { stroke: var(--gfx-bad); stroke-width: 2; }
.gfx .node.cause circle { fill: var(--gfx-bad); stroke: var(--gfx-bad); } .gfx .node.cause .ring { fill: none; stroke-width: 2; }
.gfx .node.cause text { font-weight: 700; } .gfx .node.cause .share { fill: var(--surface); stroke: none; font-weight: 600; } .gfx .share { font-size: 10px; }
.gfx.spark { width: 96px; }
figure { container-type: inline-size; }
@container (max-width: 32rem) { .gfx .minor { display: none; } }
`.trimStart();
