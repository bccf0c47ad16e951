// What a tool would do to a file, as a diff; any other call by its arguments.
import { html, useMemo, useState } from '/vendor/preact-htm.js';
import { Block, Line, Said, visible } from '/text.js';

const MOST_LINES = 80; // of a change, before the rest is folded
const LONG_LINE = 400;
const MOST_EDITS = 20;
const MOST_COMPARED = 600;

export function Changes({ approval }) {
  const edits = editsOf(approval.arguments);
  const path = pathOf(approval.arguments);
  if (edits.length === 0) return html`<${Block} text=${JSON.stringify(approval.arguments ?? {}, null, 2)} label="The arguments" />`;
  return html`<div class="changes">
    ${path && html`<p class="path"><${Said} text=${path} most=${300} /></p>`}
    ${edits.slice(0, MOST_EDITS).map(({ before, after }, index) => html`<${Diff} before=${before} after=${after} label=${'Change ' + (index + 1) + ' of ' + edits.length} />`)}
    ${edits.length > MOST_EDITS && html`<p class="warning">${edits.length - MOST_EDITS} more changes are not shown here; see the arguments below.</p>`}
    <details><summary>All arguments</summary><${Block} text=${JSON.stringify(approval.arguments, null, 2)} label="All arguments" /></details>
  </div>`;
}

export const isChange = (args) => editsOf(args).length > 0;

function Diff({ before, after, label }) {
  const [open, setOpen] = useState(false);
  const lines = useMemo(() => diff(before, after), [before, after]);
  const shown = open ? lines : folded(lines);
  const hides = shown.some(([kind, text]) => kind === 'gap' || text.length > LONG_LINE);
  return html`<pre class="diff" tabindex="0" aria-label=${label}>${shown.map(([kind, text]) => (kind === 'gap'
    ? html`<span class="gap">${text} lines hidden</span>`
    : html`<span class="line ${kind}"><span class="sign">${kind === 'added' ? '+' : kind === 'removed' ? '-' : ' '}</span>${open || text.length <= LONG_LINE ? html`<bdi dir="ltr">${visible(text)}</bdi>` : html`<${Line} text=${text} most=${LONG_LINE} />`}${'\n'}</span>`))}</pre>
    ${(hides || open) && html`<button class="quiet unfold" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? 'Show less' : 'Show all ' + lines.length + ' lines'}</button>`}`;
}

// Of a long diff the beginning and the end are shown, of long stretches without a change the edges.
function folded(lines) {
  const near = lines.map(() => false);
  lines.forEach(([kind], index) => {
    if (kind !== 'same') for (let at = Math.max(0, index - 3); at <= Math.min(lines.length - 1, index + 3); at++) near[at] = true;
  });
  let shown = 0;
  const keeps = lines.map((_, index) => near[index] && (++shown <= MOST_LINES || index >= lines.length - 10));
  const found = [];
  for (let index = 0; index < lines.length; index++) {
    if (keeps[index]) { found.push(lines[index]); continue; }
    let end = index;
    while (end < lines.length && !keeps[end]) end++;
    if (end - index < 3) found.push(...lines.slice(index, end)); else found.push(['gap', end - index]);
    index = end - 1;
  }
  return found;
}

const text = (value) => (typeof value === 'string' ? value : null);
const first = (args, names) => names.map((name) => text(args?.[name])).find((it) => it !== null) ?? null;

const pathOf = (args) => first(args, ['file_path', 'path', 'notebook_path', 'filePath', 'filename']);

function editsOf(args) {
  const one = (it) => {
    const before = first(it, ['old_string', 'oldString', 'old_str', 'oldText', 'old_text']);
    const after = first(it, ['new_string', 'newString', 'new_str', 'newText', 'new_text', 'new_source']);
    return before !== null || after !== null ? [{ before: before ?? '', after: after ?? '' }] : [];
  };
  const many = Array.isArray(args?.edits) ? args.edits.flatMap(one) : [];
  if (many.length) return many;
  const single = one(args);
  if (single.length) return single;
  const content = first(args, ['content', 'contents', 'file_text']);
  return pathOf(args) !== null && content !== null ? [{ before: '', after: content }] : [];
}

// Lines that both have, in order; what is long is shown as a whole replacement.
export function diff(before, after) {
  const a = before === '' ? [] : before.split('\n');
  const b = after === '' ? [] : after.split('\n');
  if (a.length > MOST_COMPARED || b.length > MOST_COMPARED) return [...a.map((it) => ['removed', it]), ...b.map((it) => ['added', it])];
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push(['same', a[i]]); i++; j++; }
    else if (j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1])) lines.push(['removed', a[i++]]);
    else lines.push(['added', b[j++]]);
  }
  return lines;
}
