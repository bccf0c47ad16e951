// Agent text is untrusted: it becomes text nodes only, with everything that could hide or imitate made visible.
import { html, useMemo, useState } from '/vendor/preact-htm.js';

// The same characters as in the terminal: controls, odd blanks, zero-width and bidirectional characters, fillers,
// variation selectors, tags, private use.
const UNSAFE = new RegExp(
  '[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb' +
  '\\ue000-\\uf8ff\\ud800-\\udfff]|[\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}]', 'u');

// Marks pile up on the letter before them: a few are writing, many reach into the lines around. Some strike text through.
const MARK = /\p{M}/u;
const STACK = 2;
const OVERLAY = /[\u0334-\u0338\u20d0-\u20f0]/u;

function escape(c) {
  const code = c.codePointAt(0);
  if (c === '\n') return '\\n';
  if (c === '\t') return '\\t';
  if (c === '\r') return '\\r';
  return code < 0x80 ? '\\x' + code.toString(16).padStart(2, '0') : '\\u{' + code.toString(16) + '}';
}

// The text as pieces: strings, and escapes that look different from the same letters typed by somebody.
export function visible(text, keepLines = false) {
  const pieces = [];
  let plain = '';
  let stacked = 0;
  for (const c of String(text ?? '')) {
    stacked = MARK.test(c) ? stacked + 1 : 0;
    if ((!UNSAFE.test(c) && stacked <= STACK && !OVERLAY.test(c)) || (keepLines && c === '\n')) { plain += c; continue; }
    if (plain) pieces.push(plain);
    plain = '';
    pieces.push(html`<span class="escape" title="not a visible character">${escape(c)}</span>`);
  }
  if (plain) pieces.push(plain);
  return pieces;
}

const FOLD = 1200; // characters shown before the rest is folded

// One line of agent text, cut where it gets long.
export function Line({ text, most = 300 }) {
  const all = [...String(text ?? '')];
  const cut = all.length > most;
  return html`<bdi dir="ltr">${visible(all.slice(0, most).join(''))}${cut && html`<span class="more">… ${all.length - most} more characters</span>`}</bdi>`;
}

// Bytes of a character in UTF-8, which the analysis counts in.
const bytes = (c) => { const code = c.codePointAt(0); return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; };

// The characters of a text, and for each whether one of the spans, which are offsets in bytes, covers it.
function covered(text, spans) {
  const characters = [...text];
  const inside = new Uint8Array(characters.length);
  const sorted = [...spans].sort((one, other) => one[0] - other[0]);
  let [at, next, end] = [0, 0, 0];
  characters.forEach((c, index) => {
    const length = bytes(c);
    while (next < sorted.length && sorted[next][0] < at + length) end = Math.max(end, sorted[next++][1]);
    inside[index] = at < end ? 1 : 0;
    at += length;
  });
  return { characters, inside };
}

function pieces({ characters, inside }, from, to, kind) {
  const found = [];
  for (let start = from; start < to;) {
    let end = start;
    while (end < to && inside[end] === inside[start]) end++;
    const text = visible(characters.slice(start, end).join(''), true);
    found.push(inside[start] ? html`<mark class=${kind}>${text}</mark>` : text);
    start = end;
  }
  return found;
}

const NONE = [];
const AROUND = 120; // characters shown on both sides of a marked part in what is folded
const WINDOWS = 12; // marked parts that are shown of what is folded

// Which parts of a long text are shown: its beginning, its end, and what is marked. A long harmless beginning must not
// hide the part that matters.
function windows({ characters, inside }) {
  const parts = [[0, FOLD / 2]];
  for (let index = 0; index < characters.length && parts.length <= WINDOWS; index++) {
    if (!inside[index] || (index > 0 && inside[index - 1])) continue;
    parts.push([Math.max(0, index - AROUND), Math.min(characters.length, index + 2 * AROUND)]);
  }
  parts.push([characters.length - 2 * AROUND, characters.length]);
  parts.sort((one, other) => one[0] - other[0]);
  const merged = [parts[0]];
  for (const [from, to] of parts.slice(1)) {
    const last = merged[merged.length - 1];
    if (from <= last[1] + 40) last[1] = Math.max(last[1], to); else merged.push([from, to]);
  }
  return merged;
}

const number = (count) => count.toLocaleString('en');

// A command with marked parts, folded where it is long. Where it is not known what to mark (`null`), nothing is folded:
// the part that matters must not be among what is not shown.
export function Marked({ text, spans = NONE, kind = 'ask', label }) {
  const [open, setOpen] = useState(spans === null);
  const all = useMemo(() => covered(String(text ?? ''), spans ?? NONE), [text, spans]);
  const count = all.characters.length;
  if (count <= FOLD) return html`<pre class="marked" tabindex="0" aria-label=${label}><bdi dir="ltr">${pieces(all, 0, count, kind)}</bdi></pre>`;
  let shown = 0;
  const folded = windows(all).map(([from, to]) => {
    const gap = from - shown;
    shown = to;
    return html`${gap > 0 && html`<span class="gap">${number(gap)} characters hidden</span>`}<bdi dir="ltr">${pieces(all, from, to, kind)}</bdi>`;
  });
  return html`<div class="folded">
    <pre class="marked" tabindex="0" aria-label=${label}>${open ? html`<bdi dir="ltr">${pieces(all, 0, count, kind)}</bdi>` : folded}</pre>
    <button class="quiet unfold" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? 'Show less' : 'Show all ' + number(count) + ' characters'}</button>
  </div>`;
}

// Agent text of several lines, folded when long.
export function Block({ text, label }) {
  return html`<${Marked} text=${text} label=${label} />`;
}

// Text that an agent or a repository wrote, in the middle of the page's own: always in the same frame, so that it cannot
// pass for what the page says.
export function Said({ text, most = 80 }) {
  return html`<code class="said"><${Line} text=${text} most=${most} /></code>`;
}

// For labels that a screen reader speaks: the same text without what could hide in it.
export const plain = (text, most = 120) => [...String(text ?? '')].slice(0, most).map((c) => (/[\p{L}\p{N}\p{P}\p{S} ]/u.test(c) ? c : ' ')).join('');
