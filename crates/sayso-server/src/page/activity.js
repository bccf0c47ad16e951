// The record: decisions as they come, found by what they are, with counts and what would have spared questions.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Change } from '/change.js';
import { Counts } from '/counts.js';
import { Decision } from '/decision.js';
import { isTyping, step } from '/keys.js';
import { Wrong } from '/parts.js';
import { Search } from '/search.js';
import { visible } from '/text.js';

const KINDS = ['all', 'deny', 'ask', 'allow'];
const NAMES = ['agent', 'session', 'tool', 'rule', 'text'];
const PAGE = 100;
const MOST = 300; // rows that new decisions may pile up to; the record keeps all

// Filters stand in the address, so that a link leads to what was found.
function useFilters() {
  const read = () => Object.fromEntries([...new URLSearchParams(location.hash.split('?')[1] ?? '')].filter(([name]) => [...NAMES, 'verdict', 'time', 'kind'].includes(name)));
  const [filters, setFilters] = useState(read());
  useEffect(() => {
    const onChange = () => setFilters(read());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  const put = (some) => {
    const all = Object.fromEntries(Object.entries({ ...read(), ...some }).filter(([, value]) => value));
    const text = new URLSearchParams(all).toString();
    history.replaceState(null, '', '#/activity' + (text ? '?' + text : ''));
    setFilters(all);
  };
  return [filters, put];
}

// In the words of the API. A stretch of time counts from when it was chosen.
export function asked(filters) {
  const { verdict, time, ...rest } = filters;
  return { ...rest, ...(verdict && { verdict }), ...(time && { since: Date.now() - Number(time) }) };
}

export function Activity({ on, status }) {
  const [filters, filter] = useFilters();
  const [records, setRecords] = useState(null);
  const [more, setMore] = useState(false);
  const [wrong, setWrong] = useState(null);
  const [fresh, setFresh] = useState(0);
  const [open, setOpen] = useState(null);
  const list = useRef(null);
  const box = useRef(null);
  const busy = useRef(false);
  const key = JSON.stringify(filters);
  const filtered = Object.keys(filters).length > 0;
  const one = filters.kind ? 'record' : 'decision';

  const load = async (older) => {
    try {
      const before = older && records?.length ? { before: records.at(-1).seq } : {};
      const found = (await api.audit({ ...asked(filters), ...before, limit: PAGE, order: 'newest' })).records;
      // Others may have come on top while these were fetched.
      setRecords((all) => (older ? [...all, ...found] : found));
      setMore(found.length === PAGE);
      setWrong(null);
      if (!older) setFresh(0);
    } catch (error) {
      setWrong(error.message);
    }
  };
  useEffect(() => {
    const timer = setTimeout(() => load(false), records === null ? 0 : 200);
    return () => clearTimeout(timer);
  }, [key]);

  // What is new comes on top at once, unless somebody reads: then it waits behind a button.
  const reading = open !== null || filtered;
  useEffect(() => {
    let [come, timer] = [[], null];
    const show = () => {
      const some = come;
      [come, timer] = [[], null];
      if (reading || scrollY > 300) { setFresh((many) => many + some.length); return; }
      setRecords((all) => {
        if (all === null) return all;
        const known = new Set(all.map((it) => it.seq));
        return [...some.filter((it) => !known.has(it.seq)).reverse(), ...all].slice(0, Math.max(MOST, all.length));
      });
    };
    const stop = on((event) => {
      if (filters.kind === 'all' ? false : filters.kind ? !filters.kind.split(',').includes(event.type) : event.type !== 'decision') return;
      come.push(event);
      timer ??= setTimeout(show, 100);
    });
    return () => { stop(); clearTimeout(timer); };
  }, [reading, filters.kind]);
  // Under a filter the record itself says what matches.
  useEffect(() => {
    if (fresh === 0 || !filtered || open !== null || scrollY > 300 || busy.current) return;
    busy.current = true;
    setTimeout(() => { busy.current = false; load(false); }, 500);
  }, [fresh]);

  useEffect(() => {
    const onKey = (event) => {
      step(event, list.current, '.row');
      if (!isTyping(event) && event.key === '/') { event.preventDefault(); box.current?.focus(); }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return html`<section class="activity" aria-labelledby="activity-title">
    <div class="title"><h2 id="activity-title">Activity</h2>
      <div class="filters" role="group" aria-label="Filter by verdict">${KINDS.map((it) => html`
        <button class="chip" aria-pressed=${(filters.verdict ?? 'all') === it} onClick=${() => filter({ verdict: it === 'all' ? '' : it })}>${it}</button>`)}</div>
    </div>
    <${Search} filters=${filters} filter=${(some) => { if ('kind' in some) setOpen(null); filter(some); }} box=${box} clear=${() => filter(Object.fromEntries([...NAMES, 'verdict', 'time', 'kind'].map((name) => [name, ''])))} />
    ${!filters.kind && html`<${Counts} filters=${filters} filter=${filter} on=${on} hold=${open !== null} />`}
    <${Wrong} text=${wrong} />
    ${fresh > 0 && html`<button class="fresh" onClick=${() => { setOpen(null); load(false); scrollTo(0, 0); }}>${fresh === 1 ? 'Show 1 new ' + one : 'Show ' + fresh + ' new ' + one + 's'}</button>`}
    ${records === null && !wrong && html`<p class="loading">Loading…</p>`}
    ${records?.length === 0 && !filtered && html`<${Empty} status=${status} />`}
    ${records?.length === 0 && filtered && html`<p class="empty card">${filters.kind ? 'Nothing' : 'No decision'} matches. Clear a filter to see more.</p>`}
    <ol class="list decisions" ref=${list}>${(records ?? []).map((it) => html`<${it.kind === 'decision' || it.type === 'decision' ? Decision : Change} key=${it.seq} record=${it} open=${open === it.seq} filter=${filter}
      toggle=${() => setOpen(open === it.seq ? null : it.seq)} />`)}</ol>
    ${more && html`<button class="more-rows" onClick=${() => load(true)}>Show older ${one}s</button>`}
  </section>`;
}

function Empty({ status }) {
  return html`<div class="empty card">
    <p><strong>No decisions yet.</strong> They appear here as soon as a guarded agent makes a call.</p>
    ${status && html`<p>Next: <code>${visible(status.next)}</code></p>`}
  </div>`;
}
