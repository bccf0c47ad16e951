// One question: who asks, what would really happen, which rule asks, how long there is, and the answer.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Changes, isChange } from '/changes.js';
import { Plan, RiskOf } from '/plan.js';
import { Tried, isTried } from '/tried.js';
import { Consequence, Facts } from '/consequence.js';
import { FromNowOn } from '/rule.js';
import { useSettled } from '/parts.js';
import { Block, Line, Marked, Said, plain, visible } from '/text.js';
import { Verdict } from '/verdict.js';

const EFFECTS = 12; // shown before the rest is folded
const FOLDS_MS = 4000; // how long an answered card stays as it was

// The name of an agent that came without a token is its own word, also where it is the reader's.
const claimed = ({ agent, asker }) => agent && asker && !asker.startsWith('token ') && !asker.startsWith('owner');

export function Card({ approval, act, status }) {
  const place = useRef(null);
  const settled = useSettled(place);
  const left = useLeft(approval);
  const pending = approval.standing === 'pending' && left > 0;

  // Which changes of a tried run are taken: all, unless somebody chooses.
  const [chosen, choose] = useState(() => new Set(isTried(approval) ? approval.arguments.changes.keys() : []));

  const [folded, fold] = useFolded(pending, approval.id);

  const who = approval.actor.agent ?? approval.way_in;
  const name = (approval.plan ? 'Plan from ' : 'Call from ') + plain(who) + ': ' + plain(approval.command ?? approval.tool);
  if (folded) {
    return html`<li class="card question folded-away ${approval.standing}" data-id=${approval.id} tabindex="0" aria-label=${name}>
      <${Standing} approval=${approval} left=${left} /> <code><${Line} text=${approval.command ?? approval.tool} most=${120} /></code>
      <button class="quiet" onClick=${() => fold(false)}>Show</button></li>`;
  }
  return html`<li class="card question ${approval.standing}" data-id=${approval.id} tabindex="0" aria-label=${name}>
    <div class="lead"><${Consequence} approval=${approval} /><span class="left"><${Standing} approval=${approval} left=${left} /></span></div>
    <p class="asks"><${Said} text=${who} most=${60} /> wants to ${approval.plan ? 'carry out a plan of ' + approval.plan.steps.length + (approval.plan.steps.length === 1 ? ' step' : ' steps') : html`use <${Said} text=${approval.tool} />`}
      ${claimed(approval.actor) && html`<span class="hint">(unverified: it came without a token)</span>`}
      ${approval.actor.subagent && html`<span class="hint">as a subagent</span>`}
      ${(approval.cwd ?? approval.workspace) && html`<span class="hint">in <${Said} text=${approval.cwd ?? approval.workspace} most=${80} /></span>`}</p>
    <${Facts} approval=${approval} status=${status} />
    <${About} approval=${approval} chosen=${chosen} choose=${choose} ready=${settled && pending} />
    <div ref=${place}><${Answers} approval=${approval} chosen=${chosen} act=${act} ready=${settled && pending} pending=${pending} status=${status} /></div>
  </li>`;
}

// What is over folds away after a moment, so that what waits is in sight: not while a card that waits stands below it, since
// that would move under somebody's hand.
function useFolded(pending, id) {
  // What was over before it was shown here is folded at once.
  const [folded, setFolded] = useState(!pending);
  const was = useRef(pending);
  useEffect(() => {
    if (pending || !was.current) return undefined;
    let timer = null;
    const look = () => {
      const me = document.querySelector('[data-id="' + CSS.escape(id) + '"]');
      const below = (it) => me?.compareDocumentPosition(it) & Node.DOCUMENT_POSITION_FOLLOWING;
      if ([...document.querySelectorAll('.question.pending')].some(below)) timer = setTimeout(look, 1000);
      else setFolded(true);
    };
    timer = setTimeout(look, FOLDS_MS);
    return () => clearTimeout(timer);
  }, [pending]);
  return [folded, setFolded];
}

// What is asked: the call, why, what would happen, and where.
export function About({ approval, chosen, choose, ready }) {
  return html`<${OfRun} approval=${approval} />
    ${isTried(approval) ? html`<${Tried} approval=${approval} chosen=${chosen} choose=${choose} ready=${ready} />` : approval.plan ? html`<${Plan} plan=${approval.plan} />` : html`<${What} approval=${approval} />`}
    ${isTried(approval) && (approval.left_out || approval.folded) && html`<p class="warning"><strong>These are not all changes.</strong> Deny, and run the command on less at a time.</p>`}
    <${Why} reasons=${approval.reasons} />
    ${!approval.plan && html`<${Effects} approval=${approval} />`}
    <${RiskOf} risk=${approval.risk} />
    <details class="more-about"><summary>Details</summary><dl class="facts">${facts(approval).map(([key, value]) => html`<div><dt>${key}</dt><dd><${Said} text=${value} most=${300} /></dd></div>`)}</dl></details>`;
}

const LASTS = {
  run: 'The run waits. If you allow it, it goes on, and may do this as often as it wants until the run ends.',
  session: 'Something that runs in this session waits. If you allow it, all runs of the session may do this until the session\u2019s hold ends.',
  next: 'The run has failed. If you allow it, the next run of this session may do this, once.',
  changes: 'What you allow is made if the run still waits, and otherwise when it makes the same changes again.',
};

// What runs held, and how long a yes to what it wants lasts.
function OfRun({ approval }) {
  const { held } = approval;
  return held && html`<p class="of-run">For the held run <code><${Line} text=${held.command} most=${200} /></code>${LASTS[held.lasts] && html`<br /><span class="hint">${LASTS[held.lasts]}</span>`}</p>`;
}

// The call itself: a command with what asks marked, a diff, or the arguments.
function What({ approval }) {
  const command = typeof approval.command === 'string' ? approval.command : null;
  // A tool may take a `command` and do something else by another argument: all of them are shown.
  const others = command !== null && Object.keys(approval.arguments ?? {}).some((key) => key !== 'command');
  return html`<div class="call">
    ${command !== null && html`<${Marked} text=${command} spans=${approval.marks} kind="ask" label="The command" />`}
    ${command === null && html`<${Changes} approval=${approval} />`}
    ${others && (isChange(approval.arguments) ? html`<${Changes} approval=${approval} />` : html`<${Block} text=${JSON.stringify(approval.arguments, null, 2)} label="All arguments" />`)}
    ${approval.env && html`<${Block} text=${JSON.stringify(approval.env, null, 2)} label="Variables passed with the call" />`}
    ${(approval.left_out || approval.folded) && html`<p class="warning"><strong>This is not the whole call.</strong>
      ${approval.left_out ? ' It was too long to store in full, so its end cannot be viewed. Deny it, and have the agent work in smaller steps or from a file you can read.'
        : ' Only the beginning was loaded. Reload the page to see the rest before you answer.'}</p>`}
  </div>`;
}

// The rules that ask, in their own words: what a repository's rule says is its author's claim, not the page's.
function Why({ reasons }) {
  const one = (it) => html`<p class="why">Asked by <${Said} text=${it.code} /> <span class="source">${visible(it.source ?? it.layer)}</span>: <q><${Line} text=${it.text} /></q></p>`;
  const more = reasons.slice(1, 8);
  return html`<div class="whys">${reasons.slice(0, 1).map(one)}
    ${more.length > 0 && html`<details><summary>${more.length} more ${more.length === 1 ? 'reason' : 'reasons'}</summary>${more.map(one)}</details>`}</div>`;
}

const STRICT = { deny: 0, ask: 1, allow: 2 };

// What asks comes first: what is allowed must not push it out of sight.
function Effects({ approval }) {
  const all = approval.effects.filter((it) => it.verb !== 'call' || it.verdict !== 'allow' || approval.effects.length === 1);
  all.sort((one, other) => STRICT[one.verdict] - STRICT[other.verdict]);
  const one = (it) => html`<li><${Verdict} verdict=${it.verdict} /> <span class="verb">${verbs[it.verb] ?? it.verb}</span> <span class="to"><code><${Line} text=${it.target} most=${200} /></code>${remoteOf(it, approval) && html` <span class="hint">which is <${Said} text=${remoteOf(it, approval)} most=${90} /></span>`}</span></li>`;
  const rest = all.slice(EFFECTS);
  return html`<div class="would"><p class="label">What would happen</p>
    <ul class="effects" aria-label="What would happen">${all.slice(0, EFFECTS).map(one)}</ul>
    ${rest.length > 0 && html`<details><summary>${rest.length} more</summary><ul class="effects">${rest.map(one)}</ul></details>`}
    ${approval.more_effects > 0 && html`<p class="warning">And ${approval.more_effects} more effects that were not stored.</p>`}</div>`;
}

// Where `host of origin` leads, by the repository's own configuration.
const remoteOf = ({ verb, target }, { context }) => verb === 'connect' && context?.remotes.find((it) => target === 'host of ' + it.name)?.place;

const verbs = { run: 'runs', read: 'reads', write: 'writes', delete: 'deletes', connect: 'connects', call: 'calls' };

function facts(approval) {
  const to = approval.addressees.map((it) => (it ? (it.need > 1 ? it.need + ' of ' : '') + it.name : 'you')).join(' and ');
  const parent = approval.actor.parent?.agent;
  return [
    ['for', to], ['folder', approval.cwd], ['workspace', approval.workspace !== approval.cwd && approval.workspace],
    ['session', approval.actor.session], ['via', approval.way_in], ['on behalf of', approval.actor.member],
    ['started by', parent], ['tenant', approval.actor.tenant], ['runs files', approval.files.map((it) => it.path).join(', ')],
  ].filter(([, value]) => value);
}

function Answers({ approval, chosen, act, ready, pending, status }) {
  const [width, setWidth] = useState(approval.offers[0]?.width ?? 'exact');
  const [remember, setRemember] = useState('once');
  const [preview, setPreview] = useState(null);
  const [wrong, setWrong] = useState(null);
  const [sent, setSent] = useState(false);
  const [ruling, setRuling] = useState(false);
  useEffect(() => {
    setPreview(null);
    if (remember === 'once' || width === 'exact') return undefined;
    let wanted = true;
    api.preview(approval.id, width).then((it) => wanted && setPreview(it.preview), (error) => wanted && setWrong(error.message));
    return () => { wanted = false; };
  }, [width, remember]);

  const tried = isTried(approval);
  const all = tried ? approval.arguments.changes.length : 0;
  const answer = async (verdict) => {
    if (!ready || sent || (verdict === 'allow' && tried && chosen.size === 0)) return;
    setSent(true);
    try {
      const some = tried && verdict === 'allow' && chosen.size < all && { parts: [...chosen].sort((one, other) => one - other) };
      act.update(await api.answer(approval.id, { verdict, remember, ...(remember !== 'once' && { width }), ...some }));
      setWrong(null);
    } catch (error) {
      setWrong(error.message);
      act.refresh(approval.id);
    }
    setSent(false);
  };
  const none = tried && chosen.size === 0;
  const offer = approval.offers.find((it) => it.width === width);
  // What cannot be seen whole is not allowed by a key that is pressed by habit.
  const unseen = approval.left_out || approval.folded;
  const lasting = approval.only_once || (tried && chosen.size < all) ? [] : [...(approval.actor.session ? [['session', 'this session']] : []), ...(approval.site ? [['always', 'always here']] : [])];
  return html`<div class="answers" role="group" aria-label="Answer">
    <button class="yes ${unseen ? '' : 'by-key'}" disabled=${!ready || sent || none} onClick=${() => answer('allow')}>${unseen ? 'Allow unseen' : html`Allow${tried && all > 1 ? (chosen.size === all ? ' all' : ' ' + chosen.size + ' of ' + all) : ''} <kbd aria-hidden="true">a</kbd>`}</button>
    <button class="no" disabled=${!ready || sent} onClick=${() => answer('deny')}>Deny <kbd aria-hidden="true">d</kbd></button>
    <label>for <select disabled=${!pending} value=${remember} onChange=${(event) => setRemember(event.target.value)}>
      <option value="once">${ONCE[approval.held?.lasts] ?? 'this call'}</option>
      ${lasting.map(([value, text]) => html`<option value=${value}>${text}</option>`)}
    </select></label>
    ${pending && status?.role === 'admin' && !approval.held && !unseen && html`<button class="quiet lasting" aria-expanded=${ruling} disabled=${!ready || sent} onClick=${() => setRuling(!ruling)}>Allow from now on…</button>`}
    ${approval.only_once && html`<span class="hint">applies once: <${Said} text=${approval.only_once} most=${200} /></span>`}
    ${remember !== 'once' && approval.offers.length > 0 && html`<label>width <select disabled=${!pending} value=${width} onChange=${(event) => setWidth(event.target.value)}>
      ${approval.offers.map((it) => html`<option value=${it.width}>${it.width}</option>`)}
    </select></label>`}
    ${remember !== 'once' && html`<div class="remembers" aria-live="polite">
      <p>Saves <${Said} text=${offer?.words ?? 'exactly this call'} most=${300} />
        ${preview && html`<span> · would have allowed ${preview.would_pass} of the last ${preview.looked_at} calls that asked</span>`}
        ${!preview && width !== 'exact' && html`<span class="hint"> · checking past calls…</span>`}
        ${width === 'exact' && html`<span class="hint"> · allows nothing else</span>`}</p>
      ${preview?.examples.length > 0 && html`<ul class="examples-of">${preview.examples.map((it) => html`<li><${Said} text=${it} most=${120} /></li>`)}</ul>`}
    </div>`}
    ${ruling && html`<${FromNowOn} approval=${approval} ready=${ready && pending} close=${() => setRuling(false)}
      allow=${async () => act.update(await api.answer(approval.id, { verdict: 'allow', remember: 'once' }))} />`}
    <p class="wrong ${wrong ? '' : 'nothing'}" role="alert">${wrong && visible(wrong)}</p>
  </div>`;
}

const ONCE = { run: 'this run', session: 'this session\u2019s hold', next: 'the next run', changes: 'these changes' };

const by = (approval) => (approval.answers.length ? ' by ' + approval.answers.map((it) => plain(it.person.name, 40)).join(', ') : '');

// Silence never reads like a no.
const ENDED = { approved: 'approved', denied: 'denied', expired: 'expired: nobody answered', cancelled: 'withdrawn: nobody answered' };

export function Standing({ approval, left }) {
  if (approval.standing !== 'pending') return html`<span class="standing">${ENDED[approval.standing] ?? approval.standing}${by(approval)}</span>`;
  const yes = approval.answers.length;
  return html`${yes > 0 && html`<span>${yes} approved · </span>`}<span class=${left < 60 ? 'soon' : ''}>${left === 0 ? 'expired' : seconds(left) + ' left'}</span>`;
}

export const seconds = (left) => (left >= 60 ? Math.floor(left / 60) + ' min ' + (left % 60) + ' s' : left + ' s');

// The time, every second while it matters.
export function useNow(matters) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!matters) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [matters]);
  return now;
}

// Seconds until the question ends.
export function useLeft({ expires_ms: until, standing }) {
  const now = useNow(standing === 'pending');
  return Math.max(0, Math.round((until - now) / 1000));
}
