// Sessions and runs: who works on what, since when, and how that went.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Grant } from '/grants.js';
import { step } from '/keys.js';
import { Parts, Time, Wrong, duration, many, useLoaded, useTicks } from '/parts.js';
import { Story } from '/story.js';
import { Said } from '/text.js';

const PAGE = 50;

export function Sessions({ on, status }) {
  const [of, setOf] = useState('sessions');
  const [older, setOlder] = useState([]);
  const [more, setMore] = useState(true);
  const [open, setOpen] = useState(null);
  const list = useRef(null);
  const ticks = useTicks(on, ['decision', 'approval_required', 'approval_response']);
  const { data, wrong } = useLoaded(() => api.courses(of, { limit: PAGE }), [of, ticks]);
  useEffect(() => { setOlder([]); setMore(true); setOpen(null); }, [of]);

  useEffect(() => {
    const onKey = (event) => step(event, list.current, '.row');
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const key = (it) => it.id + '\n' + (it.tenant ?? '');
  const newest = data?.[of] ?? [];
  const shown = [...newest, ...older.filter((it) => !newest.some((other) => key(other) === key(it)))];
  const most = Math.max(1, ...shown.map((it) => it.decisions.allow + it.decisions.ask + it.decisions.deny));
  const load = async () => {
    const found = (await api.courses(of, { limit: PAGE, before: shown.at(-1).last_seq }))[of];
    setOlder([...older, ...found]);
    setMore(found.length === PAGE);
  };
  const one = of === 'sessions' ? 'session' : 'run';
  return html`<section aria-labelledby="sessions-title">
    <div class="title">
      <h2 id="sessions-title">Sessions</h2>
      <div class="filters" role="group" aria-label="Sessions or runs">${['sessions', 'runs'].map((it) => html`<button class="chip" aria-pressed=${of === it} onClick=${() => setOf(it)}>${it}</button>`)}</div>
    </div>
    <${Wrong} text=${wrong} />
    ${data === null && !wrong && html`<p class="loading">Loading…</p>`}
    ${data?.[of]?.length === 0 && html`<div class="empty card"><p><strong>No ${of} yet.</strong> A ${one} appears with the first call that names it${of === 'runs' ? ' (`run` in the context of a decision)' : ''}.</p>
      ${status && html`<p>Next: <code>${status.next}</code></p>`}</div>`}
    <ol class="list sessions" ref=${list}>${shown.map((it) => html`<li key=${key(it)}>
      <button class="row" aria-expanded=${open === key(it)} onClick=${() => setOpen(open === key(it) ? null : key(it))}>
        <${Time} ms=${it.last_ms} />
        <span class="what"><${Said} text=${it.id} most=${60} /> ${it.agents.length > 0 && html`<span class="hint">by ${it.agents.map((agent) => html`<${Said} text=${agent} most=${40} /> `)}</span>`}</span>
        <${Parts} said=${it.decisions} most=${most} />
        <span class="who">${many(it.decisions.allow + it.decisions.ask + it.decisions.deny, 'decision')}${it.pending > 0 && html` · <strong>${it.pending} wait</strong>`}</span>
      </button>
      ${open === key(it) && html`<${Course} of=${of} course=${it} ticks=${ticks} />`}
    </li>`)}</ol>
    ${newest.length === PAGE && more && html`<button class="more-rows" onClick=${load}>Show older ${of}</button>`}
  </section>`;
}

// Names longer than this do not fit into an address.
const LONGEST = 2000;

function Course({ of, course, ticks }) {
  const named = encodeURIComponent(course.id + (course.tenant ?? '')).length <= LONGEST;
  const { data, wrong, again } = useLoaded(async () => (named ? api.course(of, course.id, course.tenant) : null), [course.id, ticks]);
  const facts = [['workspace', course.workspace], ['tenant', course.tenant], ['of sessions', course.sessions?.join(', ')], ['agents', course.agents.join(', ')]].filter(([, value]) => value);
  const filter = (of === 'sessions' ? 'session=' : 'text=') + encodeURIComponent(course.id);
  return html`<div class="detail">
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd><${Said} text=${value} most=${200} /></dd></div>`)}
      <div><dt>began</dt><dd><${Time} ms=${course.first_ms} /></dd></div>
      <div><dt>lasts</dt><dd>${duration(course.last_ms - course.first_ms)}</dd></div>
      <div><dt>said</dt><dd>${course.decisions.allow} allow · ${course.decisions.ask} ask · ${course.decisions.deny} deny</dd></div></dl>
    ${!named && html`<p class="hint">Its name is too long to look up.</p>`}
    <p>${named && html`<a href=${'#/activity?' + filter}>Its decisions</a>`}${data?.pending.length > 0 && html` · <a href="#/approvals">${data.pending.length} of its calls pending</a>`}</p>
    <${Wrong} text=${wrong} />
    ${named && of === 'sessions' && html`<${Story} session=${course.id} tenant=${course.tenant} ticks=${ticks} />`}
    ${data?.grants.length > 0 && html`<div><h3>Saved answers for it</h3><ol class="list">${data.grants.map((it) => html`<${Grant} key=${it.id} grant=${it} again=${again} />`)}</ol></div>`}
    ${data?.grants.length === 0 && html`<p class="hint">No saved answers for it alone.</p>`}
  </div>`;
}
