// A plan: every step with what it would do, answered together; and the risk score of a call or plan.
import { html } from '/vendor/preact-htm.js';
import { Block, Line, Said, visible } from '/text.js';
import { Verdict } from '/verdict.js';

const EFFECTS = 8; // of one step, before the rest is folded
const STRICT = { deny: 0, ask: 1, allow: 2 };

export function Plan({ plan }) {
  return html`<div class="plan">
    <p class="label">If you allow it, each step may run once, in this order, within ${lasting(plan.lasts_ms)}</p>
    <ol class="plan-steps" aria-label="Steps">${plan.steps.map((step) => html`<li class=${step.verdict}><${Step} step=${step} /></li>`)}</ol>
  </div>`;
}

function Step({ step }) {
  const command = typeof step.command === 'string' ? step.command : null;
  // A tool may take a `command` and do something else by another argument: all of them are shown.
  const others = command === null || Object.keys(step.arguments ?? {}).some((key) => key !== 'command');
  const label = 'Step ' + step.number;
  const all = [...step.effects].sort((one, other) => STRICT[one.verdict] - STRICT[other.verdict]);
  const one = (it) => html`<li><${Verdict} verdict=${it.verdict} /> <span class="verb">${visible(String(it.verb))}</span> <code><${Line} text=${it.target} most=${200} /></code></li>`;
  const rest = all.slice(EFFECTS);
  return html`<p><${Verdict} verdict=${step.verdict} /> ${command === null && html`<${Said} text=${step.tool} />`}
      ${step.cwd && html`<span class="hint">in <code><${Line} text=${step.cwd} most=${200} /></code></span>`}</p>
    ${command !== null && html`<${Block} text=${command} label=${label + ': the command'} />`}
    ${others && step.arguments && html`<${Block} text=${JSON.stringify(step.arguments, null, 2)} label=${label + ': all arguments'} />`}
    ${step.env && html`<${Block} text=${JSON.stringify(step.env, null, 2)} label=${label + ': variables passed with the call'} />`}
    ${step.verdict !== 'allow' && step.reasons.slice(0, 3).map((it) => html`<p class="why">Asked by <${Said} text=${it.code} /> <span class="source">${visible(it.source ?? it.layer)}</span>: <q><${Line} text=${it.text} /></q></p>`)}
    <ul class="effects" aria-label=${label + ': what would happen'}>${all.slice(0, EFFECTS).map(one)}</ul>
    ${rest.length > 0 && html`<details><summary>${rest.length} more</summary><ul class="effects">${rest.map(one)}</ul></details>`}
    ${step.more_effects > 0 && html`<p class="warning">And ${step.more_effects} more effects that were not stored.</p>`}
    ${step.again && html`<p class="hint">Asks again when it runs. <${Line} text=${step.again} most=${300} /></p>`}
    ${step.left_out && html`<p class="warning"><strong>This is not the whole step.</strong> It was too long to store in full.</p>`}
    <${RiskOf} risk=${step.risk} />`;
}

// The score and what it is made of; nothing where it is 0.
export function RiskOf({ risk }) {
  if (!risk || risk.score === 0) return null;
  const points = risk.points.map((it) => visible(it.feature) + ' ' + it.points).join(', ');
  return html`<p class="risk">Risk ${risk.score} <span class="hint">(${visible(risk.word)}: ${points})</span></p>`;
}

function lasting(ms) {
  const minutes = Math.max(1, Math.round(ms / 60000));
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? hours + ' h' + (minutes % 60 ? ' ' + (minutes % 60) + ' min' : '') : minutes + ' min';
}
