// How much was decided, over time and by whom, how often people were asked, and which rules would have spared them.
import { html, useEffect, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Columns, Ranking } from '/chart.js';
import { Confirm, Snippet, Wrong, clock, duration, many, number, useLoaded, useTicks } from '/parts.js';
import { Said } from '/text.js';

const COLUMNS = 48;
const WEEK = 604_800_000;
const DAY = 86_400_000;
const FITS = [3_600_000, 6 * 3_600_000, DAY, 3 * DAY]; // spans that the plot shrinks to where all of it is recent
const BY = ['verdict', 'agent', 'rule'];
const SHOWN = 6; // names in a ranking, and colours in a chart

export function Counts({ filters, filter, on, hold }) {
  const [by, setBy] = useState('verdict');
  const ticks = useTicks(on, ['decision'], hold);
  const time = Number(filters.time || WEEK);
  const only = { ...(filters.agent && { agent: filters.agent }), ...(filters.session && { session: filters.session }) };
  const query = () => ({ ...only, since: Date.now() - time });
  const { data, wrong } = useLoaded(() => api.counts({ ...query(), by, step: Math.ceil(time / COLUMNS) }), [filters.agent, filters.session, time, by, ticks]);
  // Where everything is recent, a week would be one column: the plot shows the span in which something happened.
  const [fit, setFit] = useState(null);
  const first = data?.over_time.length ? Math.min(...data.over_time.map((it) => it.from)) : null;
  useEffect(() => { setFit(filters.time || first === null ? null : FITS.find((it) => it >= Date.now() - first && it < time) ?? null); }, [first, filters.time, time]);
  const plot = useLoaded(() => (fit ? api.counts({ ...only, since: Date.now() - fit, by, step: Math.ceil(fit / COLUMNS) }).then((it) => ({ ...it, of: by })) : Promise.resolve(null)), [filters.agent, filters.session, fit, by, ticks]);
  if (!data) return html`<${Wrong} text=${wrong} />`;
  const shown = fit && plot.data?.of === by ? plot.data : data;
  if (data.decisions === 0) return null;
  const names = data['by_' + by].slice(0, SHOWN).map((it) => it.what);
  const order = by === 'verdict' ? ['allow', 'ask', 'deny'].filter((it) => names.includes(it)) : names;
  return html`<section class="card counts" aria-label="Counts">
    <${Wrong} text=${wrong} />
    <div class="title"><h3>${many(data.decisions, 'decision')} ${filters.time ? '' : 'in the last 7 days'}</h3>
      <div class="filters" role="group" aria-label="Counted by">${BY.map((it) => html`<button class="chip" aria-pressed=${by === it} onClick=${() => setBy(it)}>by ${it}</button>`)}</div></div>
    <${Columns} stretches=${shown.over_time} since=${shown.since} until=${shown.until} step=${shown.step} names=${order} verdicts=${by === 'verdict'} name=${clock} />
    <div class="rankings">
      <${Ranking} title="Verdicts" rows=${data.by_verdict} kind="verdict" pick=${(verdict) => filter({ verdict })} colours=${by === 'verdict' && order} verdicts />
      <${Ranking} title="Agents" rows=${data.by_agent.slice(0, SHOWN)} kind="agent" pick=${(agent) => filter({ agent })} colours=${by === 'agent' && order} />
      <${Ranking} title="Rules" rows=${data.by_rule.slice(0, SHOWN)} kind="rule" pick=${(rule) => filter({ rule })} colours=${by === 'rule' && order} />
    </div>
    <${Prompts} prompts=${data.prompts} query=${query} days=${time / DAY} />
  </section>`;
}

// How often people were asked, what they answered, and what would help. Judging the asks again takes a moment, so it is done
// when somebody wants to know.
function Prompts({ prompts, query, days }) {
  const [found, setFound] = useState(null);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(null);
  const look = async () => {
    setBusy(true);
    await api.counts({ ...query(), savings: true }).then((it) => { setFound(it.prompts.savings); setWrong(null); }, (error) => setWrong(error.message));
    setBusy(false);
  };
  if (prompts.asked === 0) return html`<p class="hint">Nobody was prompted.</p>`;
  const { answers } = prompts;
  const said = [[answers.approved, 'approved'], [answers.refused, 'refused'], [answers.expired, 'not answered in time']].filter(([count]) => count > 0);
  return html`<div class="prompts">
    <p><strong>${prompts.asked === 1 ? 'One prompt' : number(prompts.asked) + ' prompts'}</strong>, ${perDay(prompts.asked, days)} a day${prompts.by_rule.length > 0 && html`, most often by <${Said} text=${prompts.by_rule[0].what} most=${60} /> (${number(prompts.by_rule[0].count)})`}.
      ${' '}<button class="quiet" disabled=${busy} onClick=${look}>${busy ? 'Looking…' : found ? 'Look again' : 'Which rules would have avoided these prompts?'}</button></p>
    ${answers.questions > 0 && html`<p class="answers">${many(answers.questions, 'question')} here: ${said.map(([count, word]) => number(count) + ' ' + word).join(', ') || 'none answered yet'}.
      ${answers.median_ms !== undefined && html` Half of the answers came within ${duration(answers.median_ms)}; the longest took ${duration(answers.longest_ms)}.`}</p>`}
    ${answers.refusals.length > 0 && html`<p class="refusals">Refused most: ${answers.refusals.slice(0, 5).map((it) => html`<span><${Said} text=${it.what} most=${60} /> (${number(it.times)}) </span>`)}</p>`}
    ${prompts.held_back > 0 && html`<p class="hint">${many(prompts.held_back, 'held run')} tried something that the hold refused. <a href="#/activity?kind=happening">Show them</a></p>`}
    <${Wrong} text=${wrong} />
    <div aria-live="polite">${found && html`<${Savings} found=${found} again=${look} />`}</div>
  </div>`;
}

const perDay = (count, days) => { const each = count / Math.max(1, days); return each < 10 ? each.toFixed(1) : number(Math.round(each)); };

function Savings({ found, again }) {
  return html`<p class="hint">Checked the last ${many(found.looked_at, 'prompt')}${found.settled > 0 ? '; the policy in force would no longer ask for ' + number(found.settled) + ' of them' : ''}.</p>
    ${found.rules.length === 0 && html`<p>No rule would have avoided any of the others: rules asked for them, or nobody can see what they would run.</p>`}
    <ol class="savings">${found.rules.map((it) => html`<${Saving} key=${it.rule} it=${it} again=${again} />`)}</ol>`;
}

// A suggested rule: what it avoids, what it would also allow, and two steps: try it on the record, write it.
function Saving({ it, again }) {
  const [tried, setTried] = useState(null);
  const [state, setState] = useState('');
  const [wrong, setWrong] = useState(null);
  // The rule at the end of the user's own file, or of the one that a first file begins as.
  const text = async () => {
    const policy = await api.policy();
    const own = policy.files.find((file) => file.layer === 'user')?.text ?? 'extends = ["developer"]\n';
    return { fixed: policy.fixed, base: policy.version, text: own.trimEnd() + '\n\n' + it.rule };
  };
  const step = (name, act) => async () => {
    setState(name);
    await act().then(() => setWrong(null), (error) => setWrong(error.message));
    setState('');
  };
  const tryIt = step('trying', async () => setTried(await api.tryPolicy((await text()).text)));
  const write = async () => {
    try {
      const { fixed, base, text: whole } = await text();
      if (fixed) throw new Error('The policy was named on the command line, so it cannot be changed here.');
      await api.activate(whole, base);
      setWrong(null);
      again();
    } catch (error) { setWrong(error.message); }
  };
  return html`<li>
    <p><strong>${number(it.saved)} avoided</strong>${it.refused > 0 ? ', ' + number(it.refused) + ' of them refused' : ''}, such as ${it.examples.slice(0, 3).map((example) => html`<${Said} text=${example} most=${80} /> `)}</p>
    ${it.widest && html`<p class="hint">It would also allow <${Said} text=${it.widest} most=${80} /></p>`}
    <${Snippet} text=${it.rule} label=${'A rule for the end of your policy file that avoids ' + it.saved} />
    <div class="steps"><button disabled=${state !== ''} onClick=${tryIt}>${state === 'trying' ? 'Trying…' : 'Try it on the record'}</button>
      ${' '}<${Confirm} label="Add to my policy" question="Add this rule to your policy file?" yes="Add the rule" act=${write} /></div>
    <${Wrong} text=${wrong} />
    <div aria-live="polite">${tried && html`<${Tried} tried=${tried} />`}</div>
  </li>`;
}

function Tried({ tried }) {
  return html`<p class="tried">Of ${many(tried.calls, 'call')} in the last 30 days, ${number(tried.asked_before)} would be asked about now and <strong>${number(tried.asked_after)}</strong> with this rule.</p>
    ${tried.flips.length > 0 && html`<ul class="flips">${tried.flips.slice(0, 5).map((flip) => html`<li>${number(flip.calls)} from ${flip.old.verdict} to ${flip.new.verdict}${flip.refused > 0 ? ', ' + number(flip.refused) + ' refused by people' : ''}: ${flip.examples.slice(0, 2).map((example) => html`<${Said} text=${example} most=${80} /> `)}</li>`)}</ul>`}`;
}
