// What a change of the policy would have meant for the calls of the record.
import { html } from '/vendor/preact-htm.js';
import { many } from '/parts.js';
import { Said } from '/text.js';
import { Verdict } from '/verdict.js';

export function Flips({ flips }) {
  const { calls, asked_before: before, asked_after: after } = flips;
  const prompts = before - after;
  return html`<div class="flips" role="status">
    <p>${calls === 0 ? 'The record holds no calls to try it on yet.' : html`Tried on ${many(calls, 'call')} of the last 30 days: ${flips.flips.length === 0 ? 'no decision changes.' : prompts > 0 ? html`<strong>${many(prompts, 'prompt')} fewer</strong>.` : prompts < 0 ? html`<strong>${many(-prompts, 'prompt')} more</strong>.` : 'as many prompts as before.'}`}</p>
    ${flips.flips.length > 0 && html`<ul class="flip-list">${flips.flips.slice(0, 8).map((it) => html`<li>
      <span class="from-to"><${Verdict} verdict=${it.old.verdict} /> <span aria-hidden="true">→</span><span class="hidden">becomes</span> <${Verdict} verdict=${it.new.verdict} /></span>
      <span>${many(it.calls, 'call')}${it.refused > 0 && html`, <strong>${it.refused} refused by people</strong>`}: ${it.examples.slice(0, 2).map((text) => html`<${Said} text=${text} most=${90} /> `)}</span></li>`)}</ul>`}
    ${flips.flips.length > 8 && html`<p class="hint">And ${flips.flips.length - 8} more groups: <code>sayso policy try FILE</code> shows all.</p>`}
  </div>`;
}
