import { graphicsStyle, palette } from '../graphics/style.ts';

/** Small and dense, since a view stands in a conversation; light or dark as the host says, else as the system is. */
export const viewStyle = `
:root { color-scheme: light; font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; ${palette.light} }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { color-scheme: dark; ${palette.dark} } }
:root[data-theme=dark] { color-scheme: dark; ${palette.dark} }
*, *::before { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere; }
main { padding: .75rem; }
h1 { font-size: 1.15rem; margin: 0 0 .5rem; } h2 { font-size: 1rem; margin: 1rem 0 .5rem; } h3 { font-size: .95rem; margin: .75rem 0 .4rem; }
.line { font-size: 1rem; font-weight: 400; color: var(--soft); } .line strong { color: var(--text); }
p, ul, ol, figure, pre, details { margin: 0 0 .6rem; } ul, ol { padding-left: 1.4rem; }
.soft, small { color: var(--soft); } .said { white-space: pre-wrap; }
.warning { border-left: 3px solid var(--warn-line); background: var(--warn-soft); padding: .4rem .6rem; }
.alert:not(:empty) { border-left: 3px solid var(--danger); background: var(--danger-soft); padding: .4rem .6rem; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } .actions:empty { display: none; }
button { font: inherit; color: var(--text); background: var(--surface); border: 1px solid var(--edge); border-radius: .35rem; padding: .25rem .7rem; min-height: 2rem; }
button { cursor: pointer; } button:hover { background: var(--code); } button:disabled { opacity: .6; cursor: progress; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
.table { overflow: auto; max-height: 26rem; background: var(--surface); border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 .6rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
td { white-space: nowrap; } .long { white-space: normal; min-width: 16rem; max-width: 28rem; overflow-wrap: anywhere; } tr:last-child > td { border-bottom: 0; }
th { position: sticky; top: 0; background: var(--surface); padding: 0; }
th button { border: 0; border-radius: 0; background: none; color: var(--soft); font-weight: 600; width: 100%; text-align: inherit; white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .75rem; margin: 0 0 .6rem; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 2rem; padding: 0 .55rem; margin: 0 .3rem .2rem 0; font-size: .85rem; color: var(--soft); }
.tag.bad { color: var(--danger); border-color: var(--danger); }
code, pre { font: .9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--code); } code { padding: .05em .3em; border-radius: .2rem; }
pre { padding: .5rem .7rem; border: 1px solid var(--line); border-radius: .35rem; overflow: auto; max-height: 16rem; white-space: pre-wrap; }
summary { cursor: pointer; } figcaption { font-weight: 600; font-size: .9rem; margin-bottom: .3rem; }
.pictures { display: grid; gap: 0 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
progress { width: 10rem; }
${graphicsStyle}`;
