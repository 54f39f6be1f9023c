// The style of the report page. The page loads no other files, and its colours depend on the
// reader's light or dark setting. `--series-N` are the colours of the charts (`svg.ts`).

export const PAGE_STYLE = `
:root { color-scheme: light dark; --text:#1c2430; --dim:#5c6673; --back:#ffffff; --panel:#f5f7f9; --line:#d5dbe2;
  --series-1:#0b62b0; --series-2:#c2410c; --series-3:#0f7b55; --series-4:#7c3fbf; --series-5:#9a6b00;
  --series-6:#b0126b; --series-7:#0a7380;
  --floor:#6b7480; --good:#0f7b55; --bad:#b42318; }
@media (prefers-color-scheme: dark) { :root { --text:#e4e9ef; --dim:#98a3b0; --back:#11161c; --panel:#1a2129; --line:#323c47;
  --series-1:#6cb2f5; --series-2:#ff9a5c; --series-3:#4fd1a1; --series-4:#c19bf5; --series-5:#f0c648;
  --series-6:#ff8fc7; --series-7:#5fd3df;
  --floor:#98a3b0; --good:#4fd1a1; --bad:#ff8a80; } }
body { margin:0 auto; max-width:1080px; padding:24px; background:var(--back); color:var(--text);
  font:15px/1.5 system-ui,sans-serif; }
h1 { font-size:26px; margin:0 0 4px; } h2 { font-size:18px; margin:36px 0 8px; }
p { color:var(--dim); margin:4px 0 12px; max-width:75ch; }
.scroll { overflow-x:auto; background:var(--panel); border:1px solid var(--line); border-radius:8px; padding:12px; }
table { border-collapse:collapse; font:13px/1.4 ui-monospace,monospace; white-space:nowrap; }
th,td { padding:3px 10px; text-align:right; border-bottom:1px solid var(--line); } th { color:var(--dim); font-weight:600; }
.words { text-align:left; }
.met { color:var(--good); font-weight:600; } .missed,.unmeasured { color:var(--bad); font-weight:600; }
ul.warnings { color:var(--bad); } .legend span { margin-right:18px; white-space:nowrap; }
.legend i { display:inline-block; width:12px; height:12px; border-radius:3px; margin-right:6px; vertical-align:-1px; }
svg { width:100%; height:auto; display:block; min-width:640px; } svg text { font:13px system-ui,sans-serif; fill:currentColor; }
svg .axis { font-size:12px; fill:var(--dim); } svg .value { font-weight:600; } svg .inbox { fill:var(--text); font-size:12px; }
svg .grid { stroke:var(--line); } svg .faint { stroke-opacity:.45; } svg .floor { stroke:currentColor; stroke-dasharray:2 4; }
svg .range { stroke:currentColor; stroke-width:6; stroke-opacity:.4; stroke-linecap:round; }
svg .tick { stroke:currentColor; stroke-width:2; }
svg .series { fill:none; stroke:currentColor; stroke-width:2; } svg .dashed { stroke-dasharray:6 4; }
svg .whisker { stroke:currentColor; stroke-opacity:.6; } svg .dot { fill:currentColor; stroke:currentColor; stroke-width:2; }
svg .open { fill:var(--panel); } svg .part rect { stroke:var(--panel); stroke-width:1.5; }
`;
