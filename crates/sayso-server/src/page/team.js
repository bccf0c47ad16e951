// For whoever looks after many: who uses this server, what needs looking after, and how long people are waited for.
import { html, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Bar, Parts, Time, Wrong, clock, duration, many, number, useLoaded, useTicks } from '/parts.js';
import { Said, visible } from '/text.js';

const DAY_MS = 86_400_000;
const SPANS = [['86400000', 'last day'], ['604800000', 'last 7 days'], ['2592000000', 'last 30 days']];
const QUIET_MS = 3 * DAY_MS;
const ENDS_SOON_MS = 7 * DAY_MS;
const NEAR = 0.8;
const SHOWN = 25;
const REFRESHES_MS = 30_000; // summing up takes the server a while

export function Team({ on, status }) {
  const [span, setSpan] = useState(SPANS[1][0]);
  const ticks = useTicks(on, ['decision', 'approval_required', 'approval_response', 'token', 'policy', 'mode'], false, REFRESHES_MS);
  const { data, wrong } = useLoaded(() => api.team(Date.now() - Number(span)), [span, ticks]);
  const limits = useLoaded(() => api.limits('all'), [ticks]);
  return html`<section class="team" aria-labelledby="team-title">
    <div class="title"><h2 id="team-title">Team</h2>
      <label class="field">time <select value=${span} onChange=${(event) => setSpan(event.target.value)}>${SPANS.map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select></label></div>
    <${Wrong} text=${wrong} />
    ${data === null && !wrong && html`<p class="loading">Loading…</p>`}
    ${data?.more && html`<p class="hint">These are numbers of the newest ${number(data.looked_at)} decisions and calls that asked; there were more in this time.</p>`}
    ${data && html`<${Numbers} team=${data} />
      <${Alerts} team=${data} status=${status} limits=${limits.data} />
      <${Callers} team=${data} status=${status} />
      <div class="side-by-side"><${People} people=${data.people} /><${Tokens} tokens=${data.tokens} /></div>`}
  </section>`;
}

// The four numbers that say whether it goes well.
function Numbers({ team }) {
  const { waits, callers } = team;
  const sum = (key) => callers.reduce((all, it) => all + it[key], 0);
  const decisions = sum('allowed') + sum('asked') + sum('denied');
  const numbers = [
    [number(callers.length), callers.length === 1 ? 'caller' : 'callers', many(callers.reduce((all, it) => all + it.sessions, 0), 'session')],
    [number(decisions), decisions === 1 ? 'decision' : 'decisions', number(sum('denied')) + ' denied'],
    [waits.median_ms === undefined ? '–' : duration(waits.median_ms), 'until somebody answers', waits.nine_of_ten_ms === undefined ? 'no answers yet' : '9 of 10 within ' + duration(waits.nine_of_ten_ms)],
    [number(waits.pending), 'pending', waits.expired ? many(waits.expired, 'call') + ' nobody answered' : 'none ran out of time'],
  ];
  return html`<ul class="numbers-row">${numbers.map(([value, what, more]) => html`<li class="card"><strong>${value}</strong><span>${what}</span><span class="hint">${more}</span></li>`)}</ul>`;
}

// What somebody should do something about, the gravest first; each with what to do.
function alerts(team, status, limits) {
  const found = [];
  const now = Date.now();
  if (status?.alarm) found.push(['grave', 'The record has been altered: ' + status.alarm + '.', 'sayso log verify']);
  if (status?.mode && status.mode.run !== 'enforce') found.push(['grave', 'The mode is ' + status.mode.run + ': ' + status.mode.meaning + '.', 'sayso mode']);
  for (const it of status?.hold?.agents ?? []) if (!it.held && status.hold.level !== 'none') found.push(['', it.agent + ' on this machine does not run commands held. ' + (it.why ?? ''), 'sayso doctor ' + it.agent + ' --live']);
  if (status?.hold?.level === 'none') found.push(['', 'This machine cannot hold commands.', 'sayso doctor --hold']);
  const unproven = team.callers.filter((it) => !it.proven);
  if (unproven.length) found.push(['', 'Calls come in without a token, so what their callers say of themselves is unverified.', 'sayso token create']);
  const other = team.callers.filter((it) => it.policy_version !== team.policy_version && now - it.last_ms < DAY_MS);
  if (other.length) found.push(['', many(other.length, 'caller') + (other.length === 1 ? ' was' : ' were') + ' judged lately by another policy version than the one in force here: with a project’s own file, or before the last change.', null]);
  const quiet = team.callers.filter((it) => now - it.last_ms > QUIET_MS);
  if (quiet.length) found.push(['', many(quiet.length, 'caller') + (quiet.length === 1 ? ' was' : ' were') + ' not seen for three days.', null]);
  const ending = team.tokens.filter((it) => it.good && it.expires_ms - now < ENDS_SOON_MS);
  if (ending.length) found.push(['', many(ending.length, 'token') + (ending.length === 1 ? ' ends' : ' end') + ' within a week: ' + ending.slice(0, 4).map((it) => it.name).join(', ') + '.', 'sayso token create']);
  for (const it of near(limits).slice(0, 6)) found.push([it.share >= 1 ? 'grave' : '', it.text, null]);
  if (team.waits.oldest_ms && now - team.waits.oldest_ms > 600_000) found.push(['grave', 'A call has waited since ' + clock(team.waits.oldest_ms) + '.', null]);
  if (team.waits.expired > 0 && team.waits.expired >= team.waits.answered) found.push(['', 'More calls ran out of time than were answered. Name more approvers, or a group to escalate to.', null]);
  return found;
}

// Budgets of which little is left.
function near(limits) {
  const found = [];
  for (const used of limits?.usage ?? []) {
    for (const it of used.allowances ?? []) {
      if (it.most > 0 && it.used / it.most >= NEAR) found.push({ share: it.used / it.most, text: 'The ' + used.scope + ' ' + used.key + ' has used ' + number(it.used) + ' of ' + number(it.most) + ' ' + (it.what ?? it.name ?? 'calls') + '.' });
    }
  }
  return found.sort((one, other) => other.share - one.share);
}

function Alerts({ team, status, limits }) {
  const all = alerts(team, status, limits);
  if (all.length === 0) return html`<p class="all-well card" role="status">Nothing needs looking after.</p>`;
  all.sort(([one], [other]) => (other === 'grave') - (one === 'grave'));
  return html`<div><h3>Needs looking after</h3><ul class="alerts">${all.map(([kind, text, next]) => html`<li class=${kind}><span>${visible(text)}</span>${next && html` <code>${next}</code>`}</li>`)}</ul></div>`;
}

function Callers({ team, status }) {
  const [all, setAll] = useState(false);
  const most = Math.max(1, ...team.callers.map((it) => it.allowed + it.asked + it.denied));
  const shown = all ? team.callers : team.callers.slice(0, SHOWN);
  if (team.callers.length === 0) return html`<div class="empty card"><p><strong>No calls in this time.</strong></p>${status && html`<p>Next: <code>${status.next}</code></p>`}</div>`;
  return html`<div><h3>Machines and callers</h3><div class="scroll" tabindex="0" role="region" aria-label="Machines and callers"><table class="callers">
    <thead><tr><th>who</th><th>agents</th><th>how strong</th><th>held</th><th>policy</th><th>decisions</th><th>last seen</th></tr></thead>
    <tbody>${shown.map((it) => html`<tr>
      <th scope="row"><${Said} text=${it.name.replace(/^token /, '')} most=${40} />${it.members.length > 0 && html` <span class="hint">for ${visible(it.members.join(', '))}</span>`}</th>
      <td>${it.agents.slice(0, 3).map((agent) => html`<${Said} text=${agent} most=${24} /> `)}</td>
      <td><${Strength} it=${it} status=${status} /></td>
      <td>${it.held > 0 ? many(it.held, 'run') : html`<span class="hint">none</span>`}</td>
      <td><code class=${it.policy_version === team.policy_version ? '' : 'other'}>${visible(it.policy_version.slice(0, 8))}</code>${it.policy_version !== team.policy_version && html` <span class="hint">other</span>`}</td>
      <td class="share"><${Parts} said=${{ allow: it.allowed, ask: it.asked, deny: it.denied }} most=${most} /><span class="hint">${number(it.allowed + it.asked + it.denied)}${it.pending > 0 && html` · <strong>${it.pending} pending</strong>`}</span></td>
      <td><${Time} ms=${it.last_ms} /></td></tr>`)}</tbody></table></div>
    ${shown.length < team.callers.length && html`<button class="more-rows" onClick=${() => setAll(true)}>Show all ${team.callers.length}</button>`}</div>`;
}

// What stands behind a caller's name.
function Strength({ it, status }) {
  if (it.name === 'this machine') {
    const agents = status?.hold?.agents ?? [];
    return html`<span>guarded by hooks${agents.length > 0 && html` <span class="hint">${agents.length}</span>`}</span>`;
  }
  return it.proven ? html`<span>token</span>` : html`<span class="weak">unverified</span>`;
}

function People({ people }) {
  return html`<div><h3>People</h3>${people.length === 0 ? html`<p class="hint">Nobody has answered in this time.</p>` : html`<ul class="people">${people.map((it) => html`<li><strong><${Said} text=${it.name} most=${40} /></strong>
    <span>${many(it.allowed + it.denied, 'answer')}, ${it.denied} denied</span><span class="hint">half within ${duration(it.median_ms)}</span></li>`)}</ul>`}</div>`;
}

function Tokens({ tokens }) {
  const good = tokens.filter((it) => it.good);
  return html`<div><h3>Tokens</h3>${good.length === 0 ? html`<p class="hint">None. <code>sayso token create NAME</code> makes one for each machine or person.</p>` : html`<ul class="people">${good.slice(0, 60).map((it) => html`<li><strong><${Said} text=${it.name} most=${40} /></strong>
    <span>${it.role}${it.tenant && html` of <${Said} text=${it.tenant} most=${30} />`}</span><span class="hint">until <${Time} ms=${it.expires_ms} /></span></li>`)}</ul>`}
    ${good.length < tokens.length && html`<p class="hint">${tokens.length - good.length} expired or revoked.</p>`}</div>`;
}
