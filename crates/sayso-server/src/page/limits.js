// Limits: what the policy allows at most, what was used of it by whom, and what is left.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { step } from '/keys.js';
import { Bar, Snippet, Time, Wrong, duration, many, number, useLoaded, useTicks } from '/parts.js';
import { Said, plain, visible } from '/text.js';
import { Verdict } from '/verdict.js';

const SCOPES = ['all', 'session', 'run', 'agent', 'tenant', 'day'];
const EXAMPLE = '[limits.session]\ncalls = 400\ncost = "5.00 USD"\nwall = "2h"\nblocked = 3\nat_limit = "ask"\n';

// Amounts as the policy file writes them.
function amount(what, value) {
  if (what === 'cost') return (value / 1e6).toFixed(2);
  if (what === 'wall') return duration(value);
  if (what === 'bytes_written' || what === 'bytes') return value >= 1 << 20 ? (value / (1 << 20)).toFixed(1) + ' MiB' : value >= 1024 ? (value / 1024).toFixed(1) + ' KiB' : value + ' B';
  return number(value);
}

export function Limits({ on }) {
  const [scope, setScope] = useState('all');
  const list = useRef(null);
  const ticks = useTicks(on, ['decision', 'limit', 'happening', 'policy']);
  const { data, wrong } = useLoaded(() => api.limits(scope), [scope, ticks]);

  useEffect(() => {
    const onKey = (event) => step(event, list.current, '.entry');
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return html`<section aria-labelledby="limits-title">
    <div class="title">
      <h2 id="limits-title">Limits</h2>
      <div class="filters" role="group" aria-label="Counted over">${SCOPES.map((it) => html`<button class="chip" aria-pressed=${scope === it} onClick=${() => setScope(it)}>${it}</button>`)}</div>
    </div>
    <${Wrong} text=${wrong} />
    ${data === null && !wrong && html`<p class="loading">Loading…</p>`}
    ${data && data.stated.length === 0 && html`<div class="empty card"><p><strong>The policy sets no limits${scope === 'all' ? '' : ' for a ' + scope}.</strong>
      Add this to your policy file to stop a runaway session:</p><${Snippet} text=${EXAMPLE} label="Example limits" /></div>`}
    ${data?.stated.length > 0 && html`<div class="card stated"><h3>Limits in the policy</h3><ul>${data.stated.map((it) => html`<li>
      at most <strong>${amount(it.what, it.most)}</strong> ${words(it)} a ${it.scope}, then <${Verdict} verdict=${it.at_limit} /> <span class="source">${visible(it.source)}</span></li>`)}</ul></div>`}
    ${data?.stated.length > 0 && data.used.length === 0 && html`<p class="empty card">Nothing used yet. Counting starts with the next call.</p>`}
    <ol class="list" ref=${list}>${(data?.used ?? []).map((it) => html`<${Used} key=${it.scope + JSON.stringify([it.tenant, it.agent, it.session, it.run, it.day])} used=${it} />`)}</ol>
  </section>`;
}

const NAMES = { blocked: 'denied calls', repeats: 'repeats of one call', hosts: 'different hosts', wall: 'of time', cost: 'of cost', deletes: 'paths deleted', bytes_written: 'written', rate: 'calls' };
const words = (limit) => (NAMES[limit.what] ?? limit.what.replaceAll('_', ' ')) + (limit.per_ms ? ' in ' + duration(limit.per_ms) : '');

function Used({ used }) {
  const day = used.day !== null && used.day !== undefined ? new Date(used.day * 86_400_000).toISOString().slice(0, 10) : null;
  const own = { session: used.session, run: used.run, agent: used.agent, tenant: used.tenant, day }[used.scope];
  const others = [['agent', used.agent], ['session', used.session], ['tenant', used.tenant]].filter(([name, value]) => value && name !== used.scope);
  return html`<li class="entry" tabindex="0" aria-label=${'Used by ' + used.scope + ' ' + plain(own ?? 'unnamed')}>
    <div class="head"><strong>${used.scope}</strong> ${own ? html`<${Said} text=${own} most=${80} />` : html`<span class="hint">unnamed</span>`}
      ${others.map(([name, value]) => html`<span class="hint">${name} <${Said} text=${value} most=${60} /></span>`)}
      <span class="act hint">last <${Time} ms=${used.last_ms} /></span></div>
    ${used.limits.length === 0 && html`<p class="hint">No limit applies to this any more. ${many(used.usage.calls, 'call')} counted so far.</p>`}
    <ul class="budgets">${used.limits.map((it) => html`<li>
      <span class="what">${words(it)}</span>
      <${Bar} used=${it.used} most=${it.most} label=${words(it) + ' used'} />
      <span class="amounts">${amount(it.what, it.used)} of ${amount(it.what, it.most)} · <strong>${it.left > 0 ? amount(it.what, it.left) + ' left' : 'used up'}</strong>${it.left === 0 && html`, then <${Verdict} verdict=${it.at_limit} />`}</span>
    </li>`)}</ul>
    ${used.open > 0 && html`<p class="hint">${many(used.open, 'call')} still running: what ${used.open === 1 ? 'it' : 'they'} may use is already counted.</p>`}
  </li>`;
}
