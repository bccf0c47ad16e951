// What a tried run changed: every change with its difference, to be taken or left.
import { html, useState } from '/vendor/preact-htm.js';
import { Line, Said, visible } from '/text.js';

const OPEN = 3; // differences shown at once; the others on demand
const MOST_LINES = 200;

export const isTried = (approval) => approval.held?.lasts === 'changes' && Array.isArray(approval.arguments?.changes);

// `chosen` is a set of numbers; without `choose` the changes are only shown.
export function Tried({ approval, chosen, choose, ready }) {
  const { changes, hosts = [] } = approval.arguments;
  const count = (word) => changes.filter((it) => it.change === word).length;
  const said = ['changed', 'added', 'removed', 'renamed', 'mode', 'type'].filter(count).map((word) => count(word) + ' ' + (words[word] ?? word)).join(', ');
  const root = (approval.workspace ?? '') + '/';
  const turn = (number) => {
    const next = new Set(chosen);
    if (!next.delete(number)) next.add(number);
    choose(next);
  };
  return html`<div class="tried">
    <p class="label">The run has ended. What it changed needs approval: ${said}</p>
    ${choose && changes.length > 1 && html`<p class="choose">
      <button class="quiet" disabled=${!ready} onClick=${() => choose(new Set(changes.keys()))}>Select all</button>
      <button class="quiet" disabled=${!ready} onClick=${() => choose(new Set())}>Select none</button></p>`}
    <ul class="tried-changes">${changes.map((it, number) => html`<li>
      <label>${choose && html`<input type="checkbox" disabled=${!ready} checked=${chosen.has(number)} onChange=${() => turn(number)} />`}
        <span class="verb">${words[it.change] ?? visible(String(it.change))}</span> <code><${Line} text=${shorter(it.path, root)} most=${300} /></code></label>
      ${it.from && html`<span class="hint">from <code><${Line} text=${shorter(it.from, root)} most=${300} /></code></span>`}
      <span class="hint">${visible(about(it))}</span>
      ${it.target && html`<span class="hint">leads to <code><${Line} text=${it.target} most=${300} /></code></span>`}
      ${typeof it.diff === 'string' && it.diff && html`<details open=${number < OPEN}><summary>Difference</summary><${Unified} text=${it.diff} label=${'Difference of change ' + (number + 1)} /></details>`}
    </li>`)}</ul>
    ${hosts.length > 0 && html`<p class="label">Hosts it tried</p><ul class="tried-hosts">${hosts.map((it) => html`<li><${Said} text=${it} most=${200} /></li>`)}</ul>`}
  </div>`;
}

const words = { changed: 'changed', added: 'added', removed: 'removed', renamed: 'renamed', mode: 'permissions', type: 'replaced' };

const shorter = (path, root) => (root.length > 1 && path.startsWith(root) ? './' + path.slice(root.length) : path);

function about({ is, bytes, mode, contents }) {
  const size = typeof bytes === 'number' ? bytes.toLocaleString('en') + ' bytes' : null;
  const kind = contents === 'binary' ? 'binary, contents not shown' : contents === 'large' ? 'too large to show' : null;
  return [is !== 'file' && is, kind, size, mode && 'mode ' + mode].filter(Boolean).join(', ');
}

function Unified({ text, label }) {
  const [open, setOpen] = useState(false);
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = open ? lines : lines.slice(0, MOST_LINES);
  const kind = (line) => (line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : line[0] === '@' || line[0] === '\\' ? 'gap' : 'same');
  return html`<pre class="diff" tabindex="0" aria-label=${label}>${shown.map((line) => (kind(line) === 'gap'
    ? html`<span class="gap">${visible(line)}${'\n'}</span>`
    : html`<span class="line ${kind(line)}"><span class="sign">${line[0]}</span><bdi dir="ltr">${visible(line.slice(1))}</bdi>${'\n'}</span>`))}</pre>
    ${lines.length > MOST_LINES && html`<button class="quiet unfold" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? 'Show less' : 'Show all ' + lines.length + ' lines'}</button>`}`;
}
