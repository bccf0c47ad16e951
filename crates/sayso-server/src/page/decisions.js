// Recent decisions, live.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Block, Line, visible } from '/text.js';
import { Verdict } from '/verdict.js';

const KINDS = ['all', 'deny', 'ask', 'allow'];

const MOST = 500; // kept in the page; the record keeps all

export function Decisions({ event, status }) {
  const [records, setRecords] = useState(null);
  const [kind, setKind] = useState('all');
  const [search, setSearch] = useState('');
  const [open, setOpen] = useState(null);
  const [at, setAt] = useState(null);
  const box = useRef(null);
  const list = useRef(null);

  const wanted = search.trim().toLowerCase();
  const shown = (records ?? []).filter((it) => (kind === 'all' || it.verdict === kind)
    && (!wanted || JSON.stringify(it).toLowerCase().includes(wanted)));

  useEffect(() => { api.records({ limit: 200, order: 'newest' }).then((found) => setRecords(found.records), () => setRecords([])); }, []);
  useEffect(() => {
    if (event?.type === 'decision') setRecords((all) => (all === null || all.some((it) => it.seq === event.seq) ? all : [event, ...all].slice(0, MOST)));
  }, [event]);

  useEffect(() => {
    const onKey = (event) => {
      if (event.target.matches('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/') { event.preventDefault(); box.current?.focus(); }
      if (event.key === 'j' || event.key === 'k') {
        const index = shown.findIndex((it) => it.seq === at);
        const next = shown[index < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, index + (event.key === 'j' ? 1 : -1)))];
        if (next) {
          setAt(next.seq);
          list.current?.querySelector(`[data-seq="${next.seq}"] .row`)?.focus();
        }
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  return html`<section class="decisions" aria-labelledby="decisions-title">
    <div class="title">
      <h2 id="decisions-title">Decisions</h2>
      <div class="filters" role="group" aria-label="Filter by verdict">${KINDS.map((it) => html`
        <button class="chip" aria-pressed=${kind === it} onClick=${() => setKind(it)}>${it} <span class="count">${count(records, it)}</span></button>`)}</div>
      <label class="hidden" for="search">Search</label>
      <input id="search" ref=${box} type="search" value=${search} onInput=${(event) => setSearch(event.target.value)} placeholder="Search  /" autocomplete="off" />
    </div>
    ${records === null && html`<p class="loading">Loading…</p>`}
    ${records?.length === 0 && html`<${Empty} status=${status} />`}
    ${records?.length > 0 && shown.length === 0 && html`<p class="empty card">No decision here matches.</p>`}
    <ol class="list" ref=${list}>${shown.map((it) => html`<${Decision} key=${it.seq} record=${it} open=${open === it.seq}
      toggle=${() => { setAt(it.seq); setOpen(open === it.seq ? null : it.seq); }} />`)}</ol>
  </section>`;
}

const count = (records, kind) => (records ?? []).filter((it) => kind === 'all' || it.verdict === kind).length;

function Empty({ status }) {
  return html`<div class="empty card">
    <p><strong>No decisions yet.</strong> They appear here as soon as a guarded agent asks for something.</p>
    ${status && html`<p>Next: <code>${visible(status.next)}</code></p>`}
  </div>`;
}

function Decision({ record, open, toggle }) {
  const what = record.command ?? describe(record);
  const reason = record.reasons[0];
  return html`<li data-seq=${record.seq} class=${open ? 'open' : ''}>
    <button class="row" aria-expanded=${open} onClick=${toggle}>
      <time datetime=${new Date(record.time_ms).toISOString()} title=${new Date(record.time_ms).toString()}>${clock(record.time_ms)}</time>
      <${Verdict} verdict=${record.answer} />
      <span class="what"><span class="tool">${visible(record.tool)}</span> <code><${Line} text=${what} most=${200} /></code></span>
      <span class="who"><${Line} text=${record.actor.agent ?? record.way_in} most=${40} /></span>
    </button>
    ${!open && record.answer !== 'allow' && reason && html`<p class="reason"><${Line} text=${reason.text} /></p>`}
    ${open && html`<${Detail} record=${record} what=${what} />`}
  </li>`;
}

function Detail({ record, what }) {
  const facts = [
    ['when', new Date(record.time_ms).toLocaleString()], ['way in', [record.way_in, record.event].filter(Boolean).join(' · ')],
    ['session', record.actor.session], ['folder', record.cwd], ['workspace', record.workspace],
    ['policy', record.policy?.slice(0, 12)], ['took', record.micros + ' µs'],
  ].filter(([, value]) => value);
  const effects = record.effects.filter((it) => it.verb !== 'call' || it.verdict !== 'allow' || record.effects.length === 1);
  return html`<div class="detail">
    <${Block} text=${what} />
    ${record.answer !== record.verdict && html`<p>The policy says <${Verdict} verdict=${record.verdict} />, the caller was told <${Verdict} verdict=${record.answer} />.</p>`}
    <ul class="reasons">${record.reasons.slice(0, 8).map((it) => html`<li><${Line} text=${it.text} /> <code class="code">${visible(it.code)}</code> <span class="source">${visible(it.source ?? it.layer)}</span></li>`)}</ul>
    <div class="scroll"><table class="trace"><thead><tr><th>effect</th><th>on</th><th>verdict</th></tr></thead>
      <tbody>${effects.map((it) => html`<tr><td>${it.verb}</td><td class="target"><${Line} text=${it.target} most=${160} /></td><td><${Verdict} verdict=${it.verdict} /></td></tr>`)}</tbody></table></div>
    ${record.arguments && html`<details><summary>Arguments</summary><${Block} text=${JSON.stringify(record.arguments, null, 2)} /></details>`}
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd><${Line} text=${value} /></dd></div>`)}</dl>
  </div>`;
}

function describe(record) {
  const values = Object.values(record.arguments ?? {}).filter((it) => typeof it === 'string');
  return values[0] ?? (record.arguments ? JSON.stringify(record.arguments) : '');
}

function clock(ms) {
  const then = new Date(ms);
  const time = then.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
  const today = then.toDateString() === new Date().toDateString();
  return today ? time : then.toLocaleDateString([], { month: 'short', day: 'numeric' }) + ' ' + time;
}
