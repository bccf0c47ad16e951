// Pieces that several views share.
import { html, useEffect, useLayoutEffect, useRef, useState } from '/vendor/preact-htm.js';
import { visible } from '/text.js';

const SETTLES_MS = 600;

// Something loaded from the server, again whenever one of `when` changes. What is shown stays until the new is there.
export function useLoaded(load, when) {
  const [state, setState] = useState({ data: null, wrong: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let wanted = true;
    load().then((data) => wanted && setState({ data, wrong: null }), (error) => wanted && setState((old) => ({ ...old, wrong: error.message })));
    return () => { wanted = false; };
  }, [...when, turn]);
  return { ...state, again: () => setTurn((it) => it + 1) };
}

// Counts events of these kinds, a few steps a second at most unless it is said, so that a view loads again without being
// flooded.
export function useTicks(on, kinds, hold = false, every = 400) {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    let timer = null;
    const stop = on((event) => {
      if (!hold && kinds.includes(event.type)) timer ??= setTimeout(() => { timer = null; setTicks((it) => it + 1); }, every);
    });
    return () => { stop(); clearTimeout(timer); };
  }, [hold]);
  return ticks;
}

// Whether the buttons have stood still for a moment. What has just appeared, or moved because something above it did,
// takes no answer: the finger or key was meant for what was there before.
export function useSettled(place) {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    let timer = null;
    let top = null;
    const look = () => {
      const now = place.current ? place.current.getBoundingClientRect().top + scrollY : null;
      if (now === null || (top !== null && Math.abs(now - top) < 2)) return;
      top = now;
      setSettled(false);
      clearTimeout(timer);
      timer = setTimeout(() => setSettled(true), SETTLES_MS);
    };
    const resized = new ResizeObserver(look);
    resized.observe(document.body);
    // One card goes and another comes: everything between them moves, and the page is as long as before.
    const changed = new MutationObserver(look);
    const list = place.current?.closest('.cards');
    if (list) changed.observe(list, { childList: true });
    look();
    return () => { resized.disconnect(); changed.disconnect(); clearTimeout(timer); };
  }, []);
  return settled;
}

export function Wrong({ text }) {
  return text ? html`<p class="wrong" role="alert">${visible(text)}</p>` : null;
}

export function Copy({ text, label = 'Copy' }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).then(() => setDone(true), () => setDone(false));
    setTimeout(() => setDone(false), 2000);
  };
  return html`<button class="quiet copy" onClick=${copy} aria-label=${label}>${done ? 'Copied' : 'Copy'}</button>`;
}

// A line to put somewhere, with a button that copies it.
export function Snippet({ text, label }) {
  return html`<div class="snippet"><pre tabindex="0" aria-label=${label}>${visible(text, true)}</pre><${Copy} text=${text} label=${'Copy: ' + label} /></div>`;
}

// Something that cannot be undone asks once more, with the focus on the way out. Afterwards the focus is where it was
// and on nothing that another press would set off.
export function Confirm({ label, question, yes, act, small = true }) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const keep = useRef(null);
  const began = useRef(null);
  useLayoutEffect(() => { if (asking) keep.current?.focus(); }, [asking]);
  const leave = () => { setAsking(false); setTimeout(() => began.current?.focus(), 0); };
  const go = async (event) => {
    const place = event.currentTarget.closest('[tabindex="-1"], [tabindex="0"]');
    setBusy(true);
    try { await act(); } finally {
      setBusy(false);
      setAsking(false);
      place?.focus();
    }
  };
  if (!asking) return html`<button ref=${began} class=${small ? 'quiet danger' : 'danger'} onClick=${() => setAsking(true)}>${label}</button>`;
  return html`<span class="confirm" role="group" aria-label=${question} onKeyDown=${(event) => { if (event.key === 'Escape') { event.stopPropagation(); leave(); } }}>
    <span>${question}</span>
    <button ref=${keep} class="quiet" disabled=${busy} onClick=${leave}>No, keep it</button>
    <button class="quiet danger" disabled=${busy} onClick=${go}>${yes}</button>
  </span>`;
}

// How much of something is used. Words carry the meaning; the bar is for a glance.
export function Bar({ used, most, label }) {
  const share = most > 0 ? Math.min(1, used / most) : 1;
  return html`<div class="bar ${share >= 1 ? 'full' : share >= 0.8 ? 'near' : ''}" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${most} aria-valuenow=${Math.min(used, most)}>
    <div class="fill" style=${{ width: share * 100 + '%' }}></div></div>`;
}

// Allowed, asked about and denied, as parts of one bar.
export function Parts({ said, most }) {
  const all = said.allow + said.ask + said.deny;
  const width = (many) => ({ width: (most ? many / most : 0) * 100 + '%' });
  return html`<div class="parts" role="img" aria-label=${all + ' decisions: ' + said.allow + ' allowed, ' + said.ask + ' asked, ' + said.deny + ' denied'}>
    ${['allow', 'ask', 'deny'].map((word) => said[word] > 0 && html`<div class="part ${word}" style=${width(said[word])}></div>`)}</div>`;
}

// `1 call`, `2 calls`.
export const many = (count, one) => number(count) + ' ' + one + (count === 1 ? '' : 's');

export const number = (count) => Number(count).toLocaleString('en');

export function duration(ms) {
  const units = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1000]];
  const at = units.findIndex(([, length]) => ms >= length);
  if (at < 0) return Math.round(ms) + ' ms';
  const [unit, length] = units[at];
  const rest = units[at + 1] ? Math.floor((ms % length) / units[at + 1][1]) : 0;
  return Math.floor(ms / length) + ' ' + unit + (rest > 0 ? ' ' + rest + ' ' + units[at + 1][0] : '');
}

export function clock(ms) {
  const then = new Date(ms);
  const time = then.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
  const today = then.toDateString() === new Date().toDateString();
  return today ? time : then.toLocaleDateString([], { month: 'short', day: 'numeric' }) + ' ' + time;
}

export function Time({ ms }) {
  const then = new Date(ms);
  return html`<time datetime=${then.toISOString()} title=${then.toString()}>${clock(ms)}</time>`;
}
