// Agent text is untrusted: it becomes text nodes only, with everything that could hide or imitate made visible.
import { html } from '/vendor/preact-htm.js';

// The same characters as in the terminal: controls, odd blanks, zero-width and bidirectional characters, fillers,
// variation selectors, tags, private use.
const UNSAFE = new RegExp(
  '[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb' +
  '\\ue000-\\uf8ff\\ud800-\\udfff]|[\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u{f0000}-\\u{10ffff}]', 'u');

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
  for (const c of String(text ?? '')) {
    if (!UNSAFE.test(c) || (keepLines && c === '\n')) { plain += c; continue; }
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

// A command with marked parts. Spans are offsets in bytes, as the analysis gives them.
export function Marked({ text, spans, kind }) {
  const encoder = new TextEncoder();
  const pieces = [];
  let at = 0;
  let run = '';
  let marked = false;
  const flush = () => {
    if (run) pieces.push(marked ? html`<mark class=${kind}>${visible(run, true)}</mark>` : visible(run, true));
    run = '';
  };
  let count = 0;
  for (const c of text) {
    if (++count > FOLD) break;
    const length = encoder.encode(c).length;
    const now = spans.some(([start, end]) => start < at + length && at < end);
    if (now !== marked) { flush(); marked = now; }
    run += c;
    at += length;
  }
  flush();
  const rest = count > FOLD ? [...text].length - FOLD : 0;
  return html`<bdi dir="ltr">${pieces}${rest > 0 && html`<span class="more">… ${rest} more characters</span>`}</bdi>`;
}

// Agent text of several lines, folded when long.
export function Block({ text }) {
  const all = String(text ?? '');
  if (all.length <= FOLD) return html`<pre tabindex="0"><bdi dir="ltr">${visible(all, true)}</bdi></pre>`;
  return html`<pre tabindex="0"><bdi dir="ltr">${visible(all.slice(0, FOLD), true)}</bdi></pre>
    <details><summary>${all.length - FOLD} more characters</summary><pre tabindex="0"><bdi dir="ltr">${visible(all.slice(FOLD, 100 * FOLD), true)}</bdi></pre></details>`;
}
