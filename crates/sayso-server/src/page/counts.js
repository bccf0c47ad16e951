// How much was decided, over time and by whom, how often people were asked, and which rules would have spared them.
import { html, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Columns, Ranking } from '/chart.js';
import { Snippet, Wrong, clock, many, number, useLoaded, useTicks } from '/parts.js';
import { Said } from '/text.js';

const COLUMNS = 48;
const WEEK = 604_800_000;
const BY = ['verdict', 'agent', 'rule'];
const SHOWN = 6; // names in a ranking, and colours in a chart

export function Counts({ filters, filter, on, hold }) {
  const [by, setBy] = useState('verdict');
  const ticks = useTicks(on, ['decision'], hold);
  const time = Number(filters.time || WEEK);
  const only = { ...(filters.agent && { agent: filters.agent }), ...(filters.session && { session: filters.session }) };
  const query = () => ({ ...only, since: Date.now() - time });
  const { data, wrong } = useLoaded(() => api.counts({ ...query(), by, step: Math.ceil(time / COLUMNS) }), [filters.agent, filters.session, time, by, ticks]);
  if (!data) return html`<${Wrong} text=${wrong} />`;
  if (data.decisions === 0) return null;
  const names = data['by_' + by].slice(0, SHOWN).map((it) => it.what);
  const order = by === 'verdict' ? ['allow', 'ask', 'deny'].filter((it) => names.includes(it)) : names;
  return html`<section class="card counts" aria-label="Counts">
    <${Wrong} text=${wrong} />
    <div class="title"><h3>${many(data.decisions, 'decision')} ${filters.time ? '' : 'in the last 7 days'}</h3>
      <div class="filters" role="group" aria-label="Counted by">${BY.map((it) => html`<button class="chip" aria-pressed=${by === it} onClick=${() => setBy(it)}>by ${it}</button>`)}</div></div>
    <${Columns} stretches=${data.over_time} since=${data.since} until=${data.until} step=${data.step} names=${order} verdicts=${by === 'verdict'} name=${clock} />
    <div class="rankings">
      <${Ranking} title="Verdicts" rows=${data.by_verdict} kind="verdict" pick=${(verdict) => filter({ verdict })} colours=${by === 'verdict' && order} verdicts />
      <${Ranking} title="Agents" rows=${data.by_agent.slice(0, SHOWN)} kind="agent" pick=${(agent) => filter({ agent })} colours=${by === 'agent' && order} />
      <${Ranking} title="Rules" rows=${data.by_rule.slice(0, SHOWN)} kind="rule" pick=${(rule) => filter({ rule })} colours=${by === 'rule' && order} />
    </div>
    <${Prompts} prompts=${data.prompts} query=${query} />
  </section>`;
}

// How often people were asked. Judging the asks again takes a moment, so it is done when somebody wants to know.
function Prompts({ prompts, query }) {
  const [found, setFound] = useState(null);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(null);
  const look = async () => {
    setBusy(true);
    await api.counts({ ...query(), savings: true }).then((it) => { setFound(it.prompts.savings); setWrong(null); }, (error) => setWrong(error.message));
    setBusy(false);
  };
  if (prompts.asked === 0) return html`<p class="hint">Nobody was prompted.</p>`;
  return html`<div class="prompts">
    <p><strong>${prompts.asked === 1 ? 'One prompt' : number(prompts.asked) + ' prompts'}</strong>${prompts.by_rule.length > 0 && html`, most often by <${Said} text=${prompts.by_rule[0].what} most=${60} /> (${number(prompts.by_rule[0].count)})`}.
      ${' '}<button class="quiet" disabled=${busy} onClick=${look}>${busy ? 'Looking…' : found ? 'Look again' : 'Which rules would have avoided these prompts?'}</button></p>
    <${Wrong} text=${wrong} />
    <div aria-live="polite">${found && html`<${Savings} found=${found} />`}</div>
  </div>`;
}

function Savings({ found }) {
  return html`<p class="hint">Checked the last ${many(found.looked_at, 'prompt')}${found.settled > 0 ? '; the policy in force would no longer ask for ' + number(found.settled) + ' of them' : ''}.</p>
    ${found.rules.length === 0 && html`<p>No rule would have avoided any of the others: rules asked for them, or nobody can see what they would run.</p>`}
    <ol class="savings">${found.rules.map((it) => html`<li>
      <p><strong>${number(it.saved)}</strong> avoided, such as ${it.examples.slice(0, 3).map((example) => html`<${Said} text=${example} most=${80} /> `)}</p>
      ${it.widest && html`<p class="hint">It would also allow <${Said} text=${it.widest} most=${80} /></p>`}
      <${Snippet} text=${it.rule} label=${'A rule for the end of your policy file that avoids ' + it.saved} />
    </li>`)}</ol>
    ${found.rules.length > 0 && html`<p class="hint">Add a rule to the end of your policy file if you would always have approved. <a href="#/policy">Go to the policy</a></p>`}`;
}
