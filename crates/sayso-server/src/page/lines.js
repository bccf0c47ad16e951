// A policy file, line by line, with what is wrong with it at its place.
import { html, useState } from '/vendor/preact-htm.js';
import { many } from '/parts.js';
import { visible } from '/text.js';

const FOLD = 60; // lines shown before the rest is folded; lines with a problem are always shown

export function Lines({ text, problems = [], label }) {
  const [open, setOpen] = useState(false);
  const lines = text.replace(/\n$/, '').split('\n');
  const at = new Map();
  for (const problem of problems) at.set(problem.line, [...(at.get(problem.line) ?? []), problem]);
  const near = (number) => [...at.keys()].some((line) => Math.abs(line - number) <= 2);
  const shown = lines.map((line, index) => ({ line, number: index + 1 })).filter(({ number }) => open || lines.length <= FOLD + 5 || number <= FOLD || near(number));
  let last = 0;
  return html`<div class="folded">
    <pre class="lines" tabindex="0" aria-label=${label}>${shown.map(({ line, number }) => {
      const gap = number - last - 1;
      last = number;
      return html`${gap > 0 && html`<span class="gap">${many(gap, 'line')} folded here</span>`}<span class="line ${at.has(number) ? 'bad' : ''}"><span class="number" aria-hidden="true">${number}</span><bdi dir="ltr">${visible(line)}</bdi>${'\n'}</span>${(at.get(number) ?? []).map((it) => html`<${Problem} problem=${it} />`)}`;
    })}</pre>
    ${lines.length > FOLD + 5 && html`<button class="quiet unfold" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? 'Show less' : 'Show all ' + many(lines.length, 'line')}</button>`}
  </div>`;
}

// A sign below the place, and what is wrong in words.
function Problem({ problem }) {
  return html`<span class="problem ${problem.warning ? 'warns' : 'refuses'}"><span class="caret" aria-hidden="true">${' '.repeat(Math.max(0, Math.min(200, problem.column - 1)))}^</span>
<strong>${problem.warning ? 'warning' : 'error'}</strong> line ${problem.line}: ${visible(problem.text)} <code class="code">${visible(problem.code)}</code>${problem.suggestion && html` · ${visible(problem.suggestion)}`}</span>`;
}
