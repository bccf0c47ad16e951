// Remembered answers: what each lets pass or keeps out, who gave it, how often it was used, and taking it back.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { step } from '/keys.js';
import { Confirm, Time, Wrong, many, number, useLoaded, useTicks } from '/parts.js';
import { Said, plain } from '/text.js';
import { Verdict } from '/verdict.js';

export function Grants({ on }) {
  const [all, setAll] = useState(false);
  const [search, setSearch] = useState('');
  const list = useRef(null);
  const ticks = useTicks(on, ['grant', 'approval_response', 'decision']);
  const { data, wrong, again } = useLoaded(() => api.grants(all), [all, ticks]);

  useEffect(() => {
    const onKey = (event) => step(event, list.current, '.entry');
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const wanted = search.trim().toLowerCase();
  const shown = (data?.grants ?? []).filter((it) => !wanted || JSON.stringify(it).toLowerCase().includes(wanted));
  return html`<section aria-labelledby="grants-title">
    <div class="title">
      <h2 id="grants-title">Remembered answers</h2>
      <span class="hint" role="status">${data && number(data.grants.filter((it) => it.in_force).length) + ' in force'}</span>
      <label class="check"><input type="checkbox" checked=${all} onChange=${(event) => setAll(event.target.checked)} /> include expired</label>
      <label class="hidden" for="search">Search</label>
      <input id="search" type="search" value=${search} onInput=${(event) => setSearch(event.target.value)} placeholder="Search  /" autocomplete="off" />
    </div>
    <${Wrong} text=${wrong} />
    ${data === null && !wrong && html`<p class="loading">Loading…</p>`}
    ${data?.grants.length === 0 && html`<div class="empty card"><p><strong>No saved answers.</strong> Answer a pending call for
      this session or always, and what was remembered is listed here until it is revoked.</p>
      <p>Next: <a href="#/approvals">pending calls</a></p></div>`}
    ${data?.grants.length > 0 && shown.length === 0 && html`<p class="empty card">No saved answer matches.</p>`}
    <ol class="list" ref=${list}>${shown.map((it) => html`<${Grant} key=${it.id} grant=${it} again=${again} />`)}</ol>
  </section>`;
}

export function Grant({ grant, again }) {
  const [wrong, setWrong] = useState(null);
  const revoke = () => api.revoke(grant.id).then(() => { setWrong(null); again(); }, (error) => setWrong(error.message));
  const facts = [
    ['answers', grant.answers], ['in', grant.workspace], ['session', grant.session], ['for', grant.actor?.agent], ['tenant', grant.actor?.tenant],
    ['given by', grant.givers.map((it) => it.name).join(', ')],
  ].filter(([, value]) => value);
  const standing = grant.in_force ? (grant.session ? 'for its session' : 'until revoked')
    : grant.revoked_ms ? 'revoked' : grant.uses_left === 0 ? 'used up' : 'ended';
  return html`<li class="entry ${grant.in_force ? '' : 'over'}" tabindex="0" aria-label=${'Remembered ' + grant.verdict + ': ' + plain(grant.words)}>
    <div class="head"><${Verdict} verdict=${grant.verdict} /> <${Said} text=${grant.words} most=${200} /> <span class="hint">${standing}</span>
      <span class="act">${grant.in_force && html`<${Confirm} label="Revoke" question="Ask about this again?" yes="Yes, revoke" act=${revoke} />`}</span></div>
    <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd><${Said} text=${value} most=${160} /></dd></div>`)}
      <div><dt>given</dt><dd><${Time} ms=${grant.given_ms} /></dd></div>
      <div><dt>used</dt><dd>${grant.used === 1 ? 'once' : number(grant.used) + ' times'}${grant.last_used_ms && html`, last <${Time} ms=${grant.last_used_ms} />`}</dd></div>
      ${grant.uses_left !== null && grant.uses_left !== undefined && html`<div><dt>left</dt><dd>${many(grant.uses_left, 'use')}</dd></div>`}
      ${grant.expires_ms && html`<div><dt>ends</dt><dd><${Time} ms=${grant.expires_ms} /></dd></div>`}</dl>
    <${Wrong} text=${wrong} />
  </li>`;
}
