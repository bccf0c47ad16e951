// Counts as pictures: columns over time, and a ranking. Words beside them carry the meaning.
import { html } from '/vendor/preact-htm.js';
import { number } from '/parts.js';
import { Line, plain } from '/text.js';

const HEIGHT = 72;

// The colour of a name: a verdict has its own.
const colour = (names, name, verdicts) => (verdicts ? name : 'c' + names.indexOf(name));

// The next number that reads well, so that the scale has a top.
function round(most) {
  const unit = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 5, 10].map((it) => it * unit).find((it) => it >= most);
}

// Times along the bottom: the ends, and what lies between them.
const marks = (since, until) => [0, 1, 2, 3, 4].map((at) => since + ((until - since) * at) / 4);

// One column for each stretch of time, drawn from the bottom in the order of the names.
export function Columns({ stretches, since, until, step, names, verdicts, name }) {
  const first = Math.floor(since / step);
  const count = Math.max(1, Math.floor(until / step) - first + 1);
  const columns = Array.from({ length: count }, () => ({}));
  for (const it of stretches) {
    const index = Math.min(count - 1, Math.max(0, Math.floor(it.from / step) - first));
    columns[index][it.what] = (columns[index][it.what] ?? 0) + it.count;
  }
  const total = (column) => names.reduce((all, what) => all + (column[what] ?? 0), 0);
  const most = Math.max(1, ...columns.map(total));
  const top = round(most);
  const said = names.map((what) => plain(what, 40) + ' ' + number(columns.reduce((all, column) => all + (column[what] ?? 0), 0)));
  return html`<figure class="columns">
    <div class="plot"><div class="axis" aria-hidden="true"><span>${number(top)}</span>${top >= 2 && html`<span>${number(top / 2)}</span>`}<span>0</span></div>
    <svg viewBox=${'0 0 ' + count * 10 + ' ' + HEIGHT} preserveAspectRatio="none" role="img" aria-label=${'Decisions over time: ' + said.join(', ') + '; at most ' + number(most) + ' at a time'}>${columns.map((column, index) => {
      let bottom = HEIGHT;
      const from = (first + index) * step;
      const told = name(from) + ': ' + (names.filter((what) => column[what]).map((what) => plain(what, 40) + ' ' + number(column[what])).join(', ') || 'nothing');
      return html`<g class="column"><title>${told}</title><rect class="ground" x=${index * 10} y="0" width="10" height=${HEIGHT} />${names.map((what) => {
        if (!column[what]) return null;
        const height = Math.max(1, (column[what] / top) * HEIGHT);
        bottom -= height;
        return html`<rect class=${colour(names, what, verdicts)} x=${index * 10 + 1} y=${bottom} width="8" height=${height} />`;
      })}</g>`;
    })}</svg></div>
    <figcaption>${marks(since, until).map((at) => html`<span>${name(at)}</span>`)}</figcaption>
  </figure>`;
}

// The names with the most decisions; a press shows only those.
export function Ranking({ title, rows, pick, kind, colours, verdicts }) {
  const most = Math.max(1, ...rows.map((it) => it.count));
  return html`<div class="ranking"><h3>${title}</h3>
    ${rows.length === 0 && html`<p class="hint">none</p>`}
    <ol>${rows.map((row) => html`<li><button class="rank" disabled=${!row.what} onClick=${() => pick(row.what)}>
      <span class="name"><span class="hidden">Only ${kind} </span>${row.what ? html`<${Line} text=${row.what} most=${40} />` : html`<span class="hint">unnamed</span>`}</span>
      <span class="track"><span class="length ${colours && colours.includes(row.what) ? colour(colours, row.what, verdicts) : ''}" style=${{ width: (row.count / most) * 100 + '%' }}></span></span>
      <span class="count">${number(row.count)}<span class="hidden"> decisions</span></span></button></li>`)}</ol></div>`;
}
