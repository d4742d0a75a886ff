/** The style of the page: light or dark as the reader's system is. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f4f6f6; --surface: #ffffff; --text: #182124; --muted: #546269; --line: #d5dddd;
  --traffic: #2a9d78; --traffic-soft: #cdebe0;
  --free: #a05a00; --pro: #1a6fb5; --business: #7f56d9; --enterprise: #a81f3c;
  --bad: #a81f3c; --doubtful: #7a5200;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101517; --surface: #181f22; --text: #e3eaec; --muted: #9dabb1; --line: #2c373b;
    --traffic: #43b892; --traffic-soft: #1c4a3c;
    --free: #e0a04a; --pro: #6bb3f0; --business: #b79cff; --enterprise: #ff8fa5;
    --bad: #ff9fb0; --doubtful: #ecc777;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 17px; margin: 0 0 10px; overflow-wrap: anywhere; }
p { margin: 0 0 8px; }
.verdict { font-weight: 600; font-size: 17px; }
section { background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: 16px; margin: 16px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: bottom; }
tbody :is(th, td) { vertical-align: baseline; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--muted); font-size: 12.5px; font-weight: 500; line-height: 1.3; }
tbody th { font-weight: 500; min-width: 92px; max-width: 280px; overflow-wrap: anywhere; }
.number { text-align: right; padding-right: 22px; }
.zero { color: var(--muted); }
.note { color: var(--muted); font-size: 13px; margin: 10px 0 0; overflow-wrap: anywhere; }
ul { margin: 0; padding: 0 0 0 20px; }
li { overflow-wrap: anywhere; margin: 2px 0; }
.remarks { color: var(--doubtful); margin-top: 12px; }
.violations li::marker { content: '✗  '; color: var(--bad); }
.warnings li::marker { content: '!  '; color: var(--doubtful); }
figure { margin: 0 0 14px; overflow-x: auto; }
figcaption { color: var(--muted); font-size: 13px; margin-bottom: 2px; }
svg { display: block; width: 100%; min-width: 640px; height: auto; }
.grid { stroke: var(--line); fill: none; }
.tick { fill: var(--muted); font-size: 11px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.name { font-size: 11px; fill: currentColor; }
.area { fill: var(--traffic-soft); stroke: var(--traffic); stroke-width: 1.2; }
.line { fill: none; stroke: currentColor; stroke-width: 1.2; }
.limit { fill: none; stroke: currentColor; stroke-dasharray: 5 4; }
.tip { fill: transparent; }
.tip:hover { fill: currentColor; fill-opacity: 0.08; }
.free { color: var(--free); }
.pro { color: var(--pro); }
.business { color: var(--business); }
.enterprise { color: var(--enterprise); }
.mark { white-space: nowrap; margin-left: 10px; }
.mark::before { content: ''; display: inline-block; width: 14px; border-top: 2px solid currentColor; vertical-align: middle; margin-right: 5px; }
@media print { body { background: none; } section { break-inside: avoid; } }
`
