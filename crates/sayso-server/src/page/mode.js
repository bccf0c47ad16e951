// The mode in force: a banner where it is not the policy alone that decides, and the way to stop everything.
import { html, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Confirm, Time } from '/parts.js';
import { Line, visible } from '/text.js';

const TITLES = { halt: 'Halted', 'dry-run': 'Dry run', shadow: 'Watching only', off: 'Switched off' };

// Above everything else, in words: what happens to calls now, who decided that, and how it ends.
export function ModeBanner({ mode, role, changed }) {
  const [wrong, setWrong] = useState(null);
  if (!mode || mode.run === 'enforce') return null;
  const end = () => api.setMode('enforce').then(changed, (error) => setWrong(error.message));
  return html`<section class="banner ${mode.run}" aria-label="Mode in force" tabindex="-1">
    <p><strong>${TITLES[mode.run] ?? mode.run}</strong> ${visible(mode.meaning)}.</p>
    ${mode.by && html`<p class="by">Since <${Time} ms=${mode.since_ms} /> by <${Line} text=${mode.by} most=${60} />: <q><${Line} text=${mode.why} most=${200} /></q>${mode.until_ms ? html`, until <${Time} ms=${mode.until_ms} />` : ''}</p>`}
    ${mode.layer && html`<p class="by">Set by the ${visible(mode.layer)} policy file.</p>`}
    ${mode.by && (mode.run === 'halt' && role === 'admin'
      ? html`<${Confirm} label="End the halt" question="Calls will be judged by the policy again." yes="Yes, go on" act=${end} small=${false} />`
      : html`<p class="by">To end it: <code>sayso mode enforce</code></p>`)}
    ${wrong && html`<p class="wrong" role="alert">${visible(wrong)}</p>`}
  </section>`;
}

// One press and a confirmation: every call of every agent is denied until somebody ends it.
export function Halt({ mode, changed }) {
  const [wrong, setWrong] = useState(null);
  if (!mode || mode.run === 'halt') return null;
  const halt = () => api.setMode('halt').then((it) => { setWrong(null); changed(it); }, (error) => setWrong(error.message));
  return html`<span class="halting"><${Confirm} label="Halt" question="Deny every call of every agent?" yes="Yes, halt now" act=${halt} />
    ${wrong && html`<span class="wrong" role="alert">${visible(wrong)}</span>`}</span>`;
}
