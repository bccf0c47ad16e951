// Questions that wait for a person. A card stays where it is: new ones come below, and one that was answered keeps its
// place until it is put away, so that nothing moves under a finger. Of very many some are shown at a time.
import { html, useEffect, useMemo, useRef, useState } from '/vendor/preact-htm.js';
import { Card, seconds, useNow } from '/card.js';
import { asker, EVERYBODY, Find, matches } from '/find.js';
import { isTyping } from '/keys.js';
import { Notify } from '/notify.js';
import { many, number } from '/parts.js';

const STEP = 30; // cards shown at first, and with each press for more
const PATIENCE_MS = 1000; // how long one that is being prepared holds up those behind it
const CROWD = 10; // so many questions, and the ways to find one are shown without being asked for

export function Approvals({ approvals, more, act, status }) {
  const all = approvals ?? [];
  const waiting = all.filter((it) => it.standing === 'pending');
  const over = all.length - waiting.length;
  const [filter, setFilter] = useState(EVERYBODY);
  const [finds, setFinds] = useState(null);
  const [most, setMost] = useState(STEP);
  const [wanted, setWanted] = useState([]); // shown below the others, because somebody asked for them
  const list = useRef(null);
  const title = useRef(null);
  const search = useRef(null);
  const goal = useRef(null); // what gets the focus as soon as it is there: an id, or a place in the list

  const matching = useMemo(() => all.filter((it) => matches(it, filter)), [approvals, filter]);
  const places = useRef(new Map());
  const chosen = matching.slice(0, most).concat(matching.slice(most).filter((it) => wanted.includes(it.id)));
  const coming = chosen.filter((it) => !it.ready);
  const shown = useInPlace(chosen, places);
  const below = matching.length - chosen.length;
  const finding = finds ?? all.length > CROWD;

  useEffect(() => act.prepare(coming), [coming.map((it) => it.id).join()]);

  const choose = (next) => {
    places.current = new Map();
    setWanted([]);
    setMost(STEP);
    setFilter(next);
  };
  const focus = (id) => {
    const card = list.current?.querySelector(`[data-id="${CSS.escape(id)}"]`);
    card?.focus();
    card?.scrollIntoView({ block: 'nearest' });
    return Boolean(card);
  };
  const goTo = (id) => {
    if (focus(id)) return;
    goal.current = id;
    if (!matching.some((it) => it.id === id)) choose(EVERYBODY);
    setWanted((old) => [...old, id]);
  };
  const showMore = () => {
    goal.current = shown.length;
    setMost(most + STEP);
  };
  useEffect(() => {
    const next = typeof goal.current === 'number' ? shown[goal.current]?.id : goal.current;
    if (next && focus(next)) goal.current = null;
  });

  useEffect(() => {
    const onKey = (event) => {
      if (isTyping(event) || event.repeat || document.querySelector('dialog[open]')) return;
      if (event.key === 'j' || event.key === 'k') {
        const stops = [...(list.current?.querySelectorAll(':scope > [data-id]') ?? []), ...document.querySelectorAll('.approvals .more-rows')];
        const index = stops.findIndex((it) => it.contains(document.activeElement));
        const next = stops[index < 0 ? 0 : Math.max(0, Math.min(stops.length - 1, index + (event.key === 'j' ? 1 : -1)))];
        next?.focus();
        next?.scrollIntoView({ block: 'nearest' });
      }
      if (event.key === '/') {
        event.preventDefault();
        setFinds(true);
        setTimeout(() => search.current?.focus(), 0);
      }
      if (event.key === 'a' || event.key === 'd') {
        // Only the card that has the focus, never one that happens to be first.
        const card = document.activeElement?.closest('[data-id]');
        card?.querySelector(event.key === 'a' ? '.answers .yes.by-key' : '.answers .no')?.click();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const putAway = () => {
    act.putAway();
    title.current?.focus();
  };
  return html`<section class="approvals" aria-labelledby="approvals-title">
    <div class="title">
      <h2 id="approvals-title" ref=${title} tabindex="-1">Approvals</h2>
      <span class="hint" role="status">${approvals && counted(waiting.length, more)}</span>
      ${approvals && html`<${Notify} waiting=${waiting} />`}
      ${all.length > 0 && html`<${Soonest} waiting=${waiting} goTo=${goTo} />
        <button class="quiet" aria-expanded=${finding} onClick=${() => { if (finding) choose(EVERYBODY); setFinds(!finding); }}>Find</button>`}
    </div>
    ${all.length > 0 && finding && html`<${Find} questions=${waiting} filter=${filter} choose=${choose} search=${search} found=${matching.length} />`}
    ${more && html`<p class="notice">More are pending than shown here. In the terminal: <code>sayso approvals list --limit 0</code></p>`}
    ${approvals === null && html`<p class="loading">Loading…</p>`}
    ${approvals?.length === 0 && html`<${Nothing} status=${status} />`}
    ${all.length > 0 && matching.length === 0 && html`<p class="empty card">No pending call matches. <button class="quiet" onClick=${() => choose(EVERYBODY)}>Show all</button></p>`}
    <ol class="cards" ref=${list}>${shown.map((it) => html`<${Slot} key=${it.id} approval=${it} act=${act} status=${status} />`)}</ol>
    ${below > 0 && html`<button class="more-rows" onClick=${showMore}>Show ${Math.min(STEP, below)} more of ${many(below, 'call')} below</button>`}
    ${over > 0 && html`<button class="quiet away" onClick=${putAway}>Dismiss ${over} answered</button>`}
  </section>`;
}

// Drawn again only when its own question changes, however many others come.
function Slot({ approval, act, status }) {
  return useMemo(() => html`<${Card} approval=${approval} act=${act} status=${status} />`, [approval, status?.role, status?.hold]);
}

// What is ready, each where it was when it was first shown, new ones below in the order in which they were asked. One that
// is not ready holds those behind it up, but for a moment only.
function useInPlace(chosen, places) {
  const [, again] = useState(0);
  const began = useRef(new Map());
  const now = Date.now();
  const waits = (it) => {
    if (it.ready) return false;
    if (!began.current.has(it.id)) began.current.set(it.id, now);
    return now - began.current.get(it.id) < PATIENCE_MS;
  };
  const end = chosen.findIndex(waits);
  useEffect(() => {
    if (end < 0) return undefined;
    const timer = setTimeout(() => again((it) => it + 1), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [end]);
  const at = places.current;
  // Of those that come together, what could do the most harm stands first.
  const risk = (it) => it.risk?.score ?? 0;
  chosen.slice(0, end < 0 ? undefined : end).sort((one, other) => risk(other) - risk(one)).forEach((it) => { if (it.ready && !at.has(it.id)) at.set(it.id, at.size); });
  return chosen.filter((it) => at.has(it.id)).sort((one, other) => at.get(one.id) - at.get(other.id));
}

const counted = (count, more) => (count === 0 ? 'nothing pending' : (more ? 'more than ' : '') + number(count) + ' pending');

// The question whose time ends first, wherever it stands among the others.
function Soonest({ waiting, goTo }) {
  const now = useNow(true);
  const first = waiting.filter((it) => it.expires_ms > now).reduce((one, other) => (one && one.expires_ms <= other.expires_ms ? one : other), null);
  return html`<button class="quiet soonest" disabled=${!first} onClick=${() => goTo(first.id)} title=${first ? 'Go to the call from ' + asker(first) : undefined}>
    ${first ? 'Next expires in ' + seconds(Math.round((first.expires_ms - now) / 1000)) : 'None expires'}</button>`;
}

function Nothing({ status }) {
  return html`<div class="empty card"><p><strong>Nothing is pending.</strong> While this page is visible, calls from
      guarded agents come here and their callers wait for your answer.</p>
    ${status?.next && html`<p>To guard an agent: <code>${status.next}</code></p>`}
    <p>To create one now: <code>curl ${location.origin}/v1/decisions -H 'Content-Type: application/json' -d '${'{"command": "git push", "cwd": "/", "wait": 60}'}'</code></p></div>`;
}
