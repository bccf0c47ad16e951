// One field for everything that can be searched for: `agent:coder rule:git-push last:7d` and plain text. What is understood
// becomes a chip that one press takes away; plain text is looked for as it is typed.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import { plain } from '/text.js';

const UNITS = { min: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const WORDS = { min: 'minute', h: 'hour', d: 'day', w: 'week' };
// What people did with Sayso itself is in the record too.
export const WHAT = { people: 'server,token,policy,mode,override,grant,chain', everything: 'all' };
const VERDICTS = ['allow', 'ask', 'deny'];

// Each key: what it is for, and how its value becomes a filter. `null`: not understood yet.
const KEYS = {
  agent: ['an agent', (value) => ({ agent: value })],
  session: ['a session', (value) => ({ session: value })],
  tool: ['a tool', (value) => ({ tool: value })],
  rule: ['a rule or code', (value) => ({ rule: value })],
  verdict: ['allow, ask or deny', (value) => (VERDICTS.includes(value) ? { verdict: value } : null)],
  last: ['1h, 7d, 4w', (value) => {
    const found = /^(\d{1,4})(min|h|d|w)$/.exec(value);
    return found ? { time: String(Number(found[1]) * UNITS[found[2]]) } : null;
  }],
  what: ['people, everything', (value) => (WHAT[value] ? { kind: WHAT[value] } : null)],
};

function lastWords(ms) {
  const unit = ['w', 'd', 'h', 'min'].find((it) => ms % UNITS[it] === 0 && (it !== 'w' || ms / UNITS[it] >= 2)) ?? 'min';
  const count = Math.round(ms / UNITS[unit]);
  return 'last ' + (count === 1 ? '' : count + ' ') + WORDS[unit] + (count === 1 ? '' : 's');
}

// The filters in force as chips: the name of the filter, and what it says.
function chips(filters) {
  const named = ['agent', 'session', 'tool', 'rule', 'verdict'].filter((name) => filters[name]).map((name) => [name, name + ': ' + filters[name]]);
  if (filters.time) named.push(['time', lastWords(Number(filters.time))]);
  if (filters.kind) named.push(['kind', 'what: ' + (Object.keys(WHAT).find((it) => WHAT[it] === filters.kind) ?? filters.kind)]);
  return named;
}

// Takes what is complete out of a text: all of it at the end, or what a blank follows.
function taken(text, whole) {
  const found = {};
  const rest = text.replace(/(^|\s)([a-z]+):("[^"]*"|[^\s"]+)(?=(\s|$))/g, (all, before, key, value, after) => {
    const understood = (whole || after !== '') && Object.hasOwn(KEYS, key) ? KEYS[key][1](value.replace(/^"|"$/g, '')) : null;
    if (!understood) return all;
    Object.assign(found, understood);
    return before;
  });
  return [found, Object.keys(found).length ? rest.trimStart().replace(/\s+/g, ' ') : text];
}

export function Search({ filters, filter, box, clear }) {
  const [text, setText] = useState(filters.text ?? '');
  const [here, setHere] = useState(false);
  const place = useRef(null);
  useEffect(() => { if ((filters.text ?? '') !== text.trim()) setText(filters.text ?? ''); }, [filters.text]);
  const put = (typed, whole) => {
    const [found, rest] = taken(typed, whole);
    setText(rest);
    // A key that waits for its value is no text yet.
    filter({ ...found, text: /(^|\s)[a-z]+:\S*$/.test(rest) && Object.hasOwn(KEYS, /([a-z]+):\S*$/.exec(rest)[1]) ? filters.text ?? '' : rest.trim() });
  };
  const onKey = (event) => {
    if (event.key === 'Enter') { event.preventDefault(); put(text, true); }
    const last = chips(filters).at(-1);
    if (event.key === 'Backspace' && text === '' && last) filter({ [last[0]]: '' });
  };
  const hint = (key) => { setText((text.trim() + ' ' + key + ':').trimStart()); box.current?.focus(); };
  const all = chips(filters);
  return html`<div class="search" role="search" ref=${place} onFocusIn=${() => setHere(true)} onFocusOut=${(event) => { if (!place.current?.contains(event.relatedTarget)) { setHere(false); if (text !== (filters.text ?? '')) put(text, true); } }}>
    <div class="search-field">${all.map(([name, said]) => html`<button type="button" key=${name} class="chip on" aria-label=${'Remove ' + plain(said, 80)} onClick=${() => { filter({ [name]: '' }); box.current?.focus(); }}>${plain(said, 60)} <span aria-hidden="true">×</span></button>`)}
      <input ref=${box} name="search" type="search" aria-label="Search the record" value=${text} placeholder=${all.length ? '' : 'Search: words of a command, agent:, rule:, session:, last:7d'} autocomplete="off" spellcheck=${false}
        onInput=${(event) => put(event.target.value, false)} onKeyDown=${onKey} />
      ${(all.length > 0 || text) && html`<button type="button" class="quiet" onClick=${() => { setText(''); clear(); }}>Clear</button>`}</div>
    ${here && html`<p class="hints">${Object.entries(KEYS).map(([key, [about]]) => html`<button type="button" class="chip" onClick=${() => hint(key)}><code>${key}:</code> ${about}</button> `)}</p>`}
  </div>`;
}
