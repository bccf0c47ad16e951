// Finding one question among many: by who asks, in which session, and by its text.
import { html, useMemo } from '/vendor/preact-htm.js';
import { many, number } from '/parts.js';
import { plain } from '/text.js';

export const EVERYBODY = { agent: null, session: null, text: '' };
const MOST = 200; // names offered; an agent can make up any number of them

const agentOf = (it) => it.actor.agent ?? it.way_in;
const sessionOf = (it) => it.actor.session ?? '';

export const asker = (it) => plain(agentOf(it), 60);

export function matches(it, { agent, session, text }) {
  if (agent !== null && agentOf(it) !== agent) return false;
  if (session !== null && sessionOf(it) !== session) return false;
  const wanted = text.trim().toLowerCase();
  return !wanted || JSON.stringify([it.command, it.arguments, it.tool, it.actor, it.workspace, it.effects.map((effect) => effect.target)]).toLowerCase().includes(wanted);
}

export function Find({ questions, filter, choose, search, found }) {
  const agents = useMemo(() => tally(questions, agentOf), [questions.length]);
  const sessions = useMemo(() => tally(questions.filter((it) => filter.agent === null || agentOf(it) === filter.agent), sessionOf), [questions.length, filter.agent]);
  const active = filter.agent !== null || filter.session !== null || filter.text !== '';
  return html`<div class="fields find" role="search">
    <${Choice} label="agent" counts=${agents} chosen=${filter.agent} choose=${(agent) => choose({ ...filter, agent, session: null })} />
    <${Choice} label="session" counts=${sessions} chosen=${filter.session} choose=${(session) => choose({ ...filter, session })} />
    <label class="field text">text <input ref=${search} type="search" name="text" value=${filter.text} placeholder="Search  /" autocomplete="off" onInput=${(event) => choose({ ...filter, text: event.target.value })} /></label>
    <span class="hint" role="status">${active ? many(found, 'call') + (found === 1 ? ' matches' : ' match') : ''}</span>
    <button class="quiet" disabled=${!active} onClick=${() => choose(EVERYBODY)}>Clear</button>
  </div>`;
}

// Names that an agent chose, with how many questions each has; the busiest first.
function tally(questions, name) {
  const counts = new Map();
  for (const it of questions) counts.set(name(it), (counts.get(name(it)) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

function Choice({ label, counts, chosen, choose }) {
  const offered = counts.slice(0, MOST);
  const at = offered.findIndex(([name]) => name === chosen);
  return html`<label class="field">${label} <select value=${chosen === null ? '' : String(at)} onChange=${(event) => choose(event.target.value === '' ? null : offered[Number(event.target.value)][0])}>
    <option value="">all ${number(counts.length)}</option>
    ${offered.map(([name, count], index) => html`<option value=${String(index)}>${name === '' ? 'none named' : plain(name, 60)} (${number(count)})</option>`)}
    ${counts.length > MOST && html`<option disabled>${number(counts.length - MOST)} more; search to find them</option>`}
  </select></label>`;
}
