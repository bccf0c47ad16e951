// One record that is no decision: what somebody did with Sayso itself, or what was heard of a call.
import { html } from '/vendor/preact-htm.js';
import { Time } from '/parts.js';
import { Block, Line, visible } from '/text.js';

export function Change({ record, open, toggle }) {
  const said = [record.kind ?? record.type, record.what].filter(Boolean).join(' ');
  const who = record.by ?? record.actor?.agent ?? record.way_in ?? '';
  const { seq, id, hash, kind, type, what, about, by, actor, time_ms, detail, ...rest } = record;
  const facts = [
    ['when', new Date(time_ms).toLocaleString()], ['by', by], ['about', about], ['agent', actor?.agent], ['session', actor?.session],
    ['tenant', actor?.tenant], ['record', id], ['number', seq],
  ].filter(([, value]) => value);
  const more = { ...rest, ...(detail ?? {}) };
  return html`<li data-seq=${seq} class=${open ? 'open' : ''}>
    <button class="row" aria-expanded=${open} onClick=${toggle}>
      <${Time} ms=${time_ms} /><span></span>
      <span class="what"><span class="tool"><${Line} text=${said} most=${60} /></span> <code><${Line} text=${about ?? record.text ?? ''} most=${200} /></code></span>
      <span class="who"><${Line} text=${who} most=${40} /></span>
    </button>
    ${open && html`<div class="detail">
      ${Object.keys(more).length > 0 && html`<${Block} text=${JSON.stringify(more, null, 2)} label=${visible(said)} />`}
      <dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd><${Line} text=${String(value)} /></dd></div>`)}</dl>
    </div>`}
  </li>`;
}
