// A verdict: a word first, a colour second.
import { html } from '/vendor/preact-htm.js';

const WORDS = ['allow', 'ask', 'deny', 'dry-run'];

export function Verdict({ verdict }) {
  return html`<span class="verdict ${WORDS.includes(verdict) ? verdict : ''}">${verdict}</span>`;
}
