// What a tool would do to a file, as a diff; any other call by its arguments.
import { html } from '/vendor/preact-htm.js';
import { Block, visible } from '/text.js';

const MOST_LINES = 400;
const MOST_COMPARED = 600;

export function Changes({ approval }) {
  const edits = editsOf(approval.arguments);
  const path = pathOf(approval.arguments);
  if (edits.length === 0) return html`<${Block} text=${JSON.stringify(approval.arguments ?? {}, null, 2)} />`;
  return html`<div class="changes">
    ${path && html`<p class="path"><code>${visible(path)}</code></p>`}
    ${edits.map(({ before, after }) => html`<${Diff} lines=${diff(before, after)} />`)}
    <details><summary>Arguments</summary><${Block} text=${JSON.stringify(approval.arguments, null, 2)} /></details>
  </div>`;
}

function Diff({ lines }) {
  const shown = lines.slice(0, MOST_LINES);
  return html`<pre class="diff" tabindex="0" aria-label="The change">${shown.map(([kind, text]) => html`<span class="line ${kind}"><span class="sign">${kind === 'added' ? '+' : kind === 'removed' ? '-' : ' '}</span><bdi dir="ltr">${visible(text.slice(0, 2000))}</bdi>${'\n'}</span>`)}
    ${lines.length > shown.length && html`<span class="more">… ${lines.length - shown.length} more lines</span>`}</pre>`;
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
