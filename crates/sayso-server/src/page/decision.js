// One decision of the record: a row, and the full trace of how it came about.
import { html } from '/vendor/preact-htm.js';
import { Time } from '/parts.js';
import { Block, Line, Said, visible } from '/text.js';
import { Verdict } from '/verdict.js';

export function Decision({ record, open, toggle, filter }) {
  const what = record.command ?? describe(record);
  const reason = record.reasons[0];
  return html`<li data-seq=${record.seq} class=${open ? 'open' : ''}>
    <button class="row" aria-expanded=${open} onClick=${toggle}>
      <${Time} ms=${record.time_ms} />
      <${Verdict} verdict=${record.answer} />
      <span class="what"><span class="tool"><${Line} text=${record.tool} most=${60} /></span> <code><${Line} text=${what} most=${200} /></code></span>
      <span class="who"><${Line} text=${record.actor.agent ?? record.way_in} most=${40} /></span>
    </button>
    ${!open && record.answer !== 'allow' && reason && html`<p class="reason"><${Line} text=${reason.text} /></p>`}
    ${open && html`<${Detail} record=${record} what=${what} filter=${filter} />`}
  </li>`;
}

function Detail({ record, what, filter }) {
  const only = [
    ['agent', record.actor.agent], ['session', record.actor.session], ['tool', record.tool], ['rule', record.reasons[0]?.code],
  ].filter(([, value]) => value);
  const facts = [
    ['when', new Date(record.time_ms).toLocaleString()], ['way in', [record.way_in, record.event].filter(Boolean).join(' · ')],
    ['call', record.call_id], ['run', record.actor.run], ['member', record.actor.member], ['team', record.actor.team], ['tenant', record.actor.tenant],
    ['model', record.actor.provider], ['folder', record.cwd], ['workspace', record.workspace], ['named', record.called_as?.name !== record.tool && record.called_as?.name],
    ['policy', record.policy?.slice(0, 12)], ['record', record.id], ['number', record.seq], ['digest', record.digest?.slice(0, 16)], ['took', record.micros + ' µs'],
  ].filter(([, value]) => value);
  return html`<div class="detail">
    <${Block} text=${what} label="The call" />
    ${record.answer !== record.verdict && html`<p>The policy decided <${Verdict} verdict=${record.verdict} />; the caller got <${Verdict} verdict=${record.answer} />.</p>`}
    ${record.would && record.would !== record.verdict && html`<p>Without the mode it would have been <${Verdict} verdict=${record.would} />.</p>`}
    <ul class="reasons">${record.reasons.slice(0, 8).map((it) => html`<li><${Line} text=${it.text} /> <${Said} text=${it.code} /> <span class="source">${visible(it.source ?? it.layer)}</span></li>`)}</ul>
    <${Trace} record=${record} />
    ${record.env && html`<${Block} text=${JSON.stringify(record.env, null, 2)} label="Variables passed with the call" />`}
    ${record.arguments && html`<details><summary>Arguments</summary><${Block} text=${JSON.stringify(record.arguments, null, 2)} label="Arguments" /></details>`}
    <p class="only">Only this ${only.map(([name, value]) => html`<button class="chip" onClick=${() => filter({ [name]: value })}>${name} <${Line} text=${value} most=${40} /></button> `)}</p>
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd><${Line} text=${value} /></dd></div>`)}</dl>
  </div>`;
}

// What each stage said of each effect.
function Trace({ record }) {
  const whole = record.opinions?.length ? [{ verb: 'the call', target: '', verdict: record.verdict, opinions: record.opinions }] : [];
  const effects = record.effects.filter((it) => it.verb !== 'call' || it.opinions?.length || it.verdict !== 'allow' || record.effects.length === 1);
  return html`<div class="scroll"><table class="trace"><thead><tr><th>effect</th><th>on</th><th>verdict</th><th>says who</th></tr></thead>
    <tbody>${[...whole, ...effects].map((it) => html`<tr><td>${it.verb}</td><td class="target"><${Line} text=${it.target} most=${160} /></td><td><${Verdict} verdict=${it.verdict} /></td>
      <td>${(it.opinions ?? []).map((one) => html`<div class="opinion"><span class="stage">${one.stage}</span> <span>${one.verdict}${one.maybe ? ', perhaps' : ''}</span> <code class="code"><${Line} text=${one.code} most=${60} /></code></div>`)}</td></tr>`)}</tbody></table>
    ${record.more_effects > 0 && html`<p class="hint">and ${record.more_effects} more effects that were not stored</p>`}</div>`;
}

function describe(record) {
  const values = Object.values(record.arguments ?? {}).filter((it) => typeof it === 'string');
  return values[0] ?? (record.arguments ? JSON.stringify(record.arguments) : '');
}
