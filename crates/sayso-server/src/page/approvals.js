// Questions that wait for a person. A card stays where it is: new ones come below, and one that was answered keeps its
// place until it is put away, so that nothing moves under a finger.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Changes } from '/changes.js';
import { Block, Line, Marked, visible } from '/text.js';
import { Verdict } from '/try.js';

// A card that has just appeared takes no answer: the finger or key was meant for something else.
const SETTLES_MS = 600;

export function Approvals({ approvals, act, you }) {
  const [at, setAt] = useState(null);
  const list = useRef(null);
  const waiting = approvals.filter((it) => it.standing === 'pending');
  const over = approvals.length - waiting.length;

  useEffect(() => {
    document.title = waiting.length ? `(${waiting.length}) Sayso` : 'Sayso';
  }, [waiting.length]);

  useEffect(() => {
    const onKey = (event) => {
      if (event.target.matches('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.key === 'j' || event.key === 'k') {
        const index = approvals.findIndex((it) => it.id === at);
        const next = approvals[index < 0 ? 0 : Math.max(0, Math.min(approvals.length - 1, index + (event.key === 'j' ? 1 : -1)))];
        if (next) {
          setAt(next.id);
          const card = list.current?.querySelector(`[data-id="${next.id}"]`);
          card?.focus();
          card?.scrollIntoView({ block: 'nearest' });
        }
      }
      if (event.key === 'a' || event.key === 'd') {
        // Only the card that has the focus, never one that happens to be first.
        const card = document.activeElement?.closest('[data-id]');
        card?.querySelector(event.key === 'a' ? '.answers .yes' : '.answers .no')?.click();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  return html`<section class="approvals" aria-labelledby="approvals-title">
    <div class="title">
      <h2 id="approvals-title">Approvals</h2>
      <span class="hint" role="status">${waiting.length === 0 ? 'nothing waits' : waiting.length === 1 ? '1 question waits' : waiting.length + ' questions wait'}</span>
      <button class="quiet away ${over === 0 ? 'nothing' : ''}" disabled=${over === 0} onClick=${act.putAway}>Put away ${over} answered</button>
    </div>
    ${approvals.length === 0 && html`<div class="empty card"><p><strong>Nothing waits for you.</strong> While this page is open,
      questions of guarded agents come here and their callers wait for your answer.</p></div>`}
    <ol class="cards" ref=${list}>${approvals.map((it) => html`<${Card} key=${it.id} approval=${it} act=${act} you=${you} focused=${() => setAt(it.id)} />`)}</ol>
  </section>`;
}

function Card({ approval, act, you, focused }) {
  const [settled, setSettled] = useState(false);
  const [marks, setMarks] = useState(null);
  const [width, setWidth] = useState(approval.offers[0]?.width ?? 'exact');
  const [remember, setRemember] = useState('once');
  const [preview, setPreview] = useState(null);
  const [wrong, setWrong] = useState(null);
  const [sent, setSent] = useState(false);
  const pending = approval.standing === 'pending';

  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLES_MS);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (!approval.command || !pending) return;
    const where = { ...(approval.cwd && { cwd: approval.cwd }), ...(approval.workspace && { workspace: approval.workspace }) };
    api.tryOut({ command: approval.command, ...where }).then(setMarks, () => setMarks(null));
  }, [approval.id]);
  useEffect(() => {
    setPreview(null);
    if (remember === 'once' || width === 'exact') return;
    api.preview(approval.id, width).then(setPreview, (error) => setWrong(error.message));
  }, [width, remember]);

  const answer = async (verdict) => {
    if (!settled || !pending || sent) return;
    setSent(true);
    try {
      act.update(await api.answer(approval.id, { verdict, remember, ...(remember !== 'once' && { width }) }));
      setWrong(null);
    } catch (error) {
      setWrong(error.message);
      act.refresh(approval.id);
    }
    setSent(false);
  };

  const who = approval.actor.agent ?? approval.way_in;
  const risky = (marks?.effects ?? []).filter((it) => it.verdict !== 'allow' && it.span).map((it) => it.span);
  const effects = approval.effects.filter((it) => it.verb !== 'call' || approval.effects.length === 1);
  const reason = approval.reasons[0];
  const offer = approval.offers.find((it) => it.width === width);
  // A tool may take a `command` and do something else by another argument: all of them are shown.
  const others = approval.command && Object.keys(approval.arguments ?? {}).some((key) => key !== 'command');
  const name = 'Question of ' + plain(who) + ': ' + plain(approval.command ?? approval.tool);
  return html`<li class="card question ${approval.standing}" data-id=${approval.id} tabindex="0" aria-label=${name} onFocus=${focused}>
    <p class="asks"><strong><${Line} text=${who} most=${60} /></strong> asks to use <code><${Line} text=${approval.tool} most=${80} /></code>
      ${approval.actor.subagent && html`<span class="hint">subagent</span>`}
      <span class="left">${pending ? html`<${Left} until=${approval.expires_ms} />` : html`<span class="standing">${approval.standing}${by(approval)}</span>`}</span></p>
    ${approval.command !== undefined && approval.command !== null
      ? html`<pre class="marked" tabindex="0" aria-label="The command"><${Marked} text=${approval.command} spans=${risky} kind="ask" /></pre>`
      : html`<${Changes} approval=${approval} />`}
    ${others && html`<${Block} text=${JSON.stringify(approval.arguments, null, 2)} />`}
    ${approval.command?.length > 1200 && html`<details><summary>${/ \.\.\. \(\d+ more bytes\)$/.test(approval.command) ? 'More of the command: its end is not shown, look before you say yes' : 'The whole command'}</summary><${Block} text=${approval.command} /></details>`}
    ${reason && html`<p class="why"><${Line} text=${reason.text} /> <code class="code">${visible(reason.code)}</code> <span class="source">${visible(reason.source ?? reason.layer)}</span></p>`}
    <ul class="effects" aria-label="What it would do">${effects.slice(0, 12).map((it) => html`<li><${Verdict} verdict=${it.verdict} /> <span class="verb">${it.verb}</span> <code><${Line} text=${it.target} most=${160} /></code></li>`)}
      ${effects.length > 12 && html`<li class="hint">and ${effects.length - 12} more</li>`}</ul>
    <dl class="facts">${facts(approval).map(([key, value]) => html`<div><dt>${key}</dt><dd><${Line} text=${value} /></dd></div>`)}</dl>
    <div class="answers" role="group" aria-label="Answer">
      <button class="yes" disabled=${!settled || !pending || sent} onClick=${() => answer('allow')}>Allow <kbd aria-hidden="true">a</kbd></button>
      <button class="no" disabled=${!settled || !pending || sent} onClick=${() => answer('deny')}>Deny <kbd aria-hidden="true">d</kbd></button>
      <label>for <select disabled=${!pending} value=${remember} onChange=${(event) => setRemember(event.target.value)}>
        <option value="once">this call</option>
        ${approval.actor.session && html`<option value="session">this session</option>`}
        ${approval.site && html`<option value="always">always here</option>`}
      </select></label>
      ${remember !== 'once' && approval.offers.length > 0 && html`<label>width <select disabled=${!pending} value=${width} onChange=${(event) => setWidth(event.target.value)}>
        ${approval.offers.map((it) => html`<option value=${it.width}>${it.width}</option>`)}
      </select></label>`}
      ${remember !== 'once' && offer && html`<p class="offer">Remembers: <${Line} text=${offer.words} />
        ${preview && html`<span> · would have let pass ${preview.preview.would_pass} of the last ${preview.preview.looked_at} asks</span>`}</p>`}
      ${preview?.preview.examples.length > 0 && html`<ul class="examples-of">${preview.preview.examples.map((it) => html`<li><code><${Line} text=${it} most=${120} /></code></li>`)}</ul>`}
    </div>
    ${wrong && html`<p class="wrong" role="alert">${visible(wrong)}</p>`}
  </li>`;
}

// For labels that a screen reader speaks: the same text without what could hide in it.
const plain = (text) => [...String(text ?? '')].slice(0, 120).map((c) => (/[\p{L}\p{N}\p{P}\p{S} ]/u.test(c) ? c : ' ')).join('');

const by = (approval) => (approval.answers.length ? ' by ' + approval.answers.map((it) => it.person.name).join(', ') : '');

function facts(approval) {
  const to = approval.addressees.map((it) => (it ? (it.need > 1 ? it.need + ' of ' : '') + it.name : 'you')).join(' and ');
  return [
    ['for', to], ['folder', approval.cwd], ['session', approval.actor.session], ['asked by way of', approval.way_in],
    ['on behalf of', approval.actor.member], ['runs', approval.files.map((it) => it.path).join(', ')],
  ].filter(([, value]) => value);
}

function Left({ until }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((until - now) / 1000));
  const text = seconds >= 60 ? Math.floor(seconds / 60) + ' min ' + (seconds % 60) + ' s' : seconds + ' s';
  return html`<span class=${seconds < 60 ? 'soon' : ''}>${seconds === 0 ? 'over' : text + ' left'}</span>`;
}
