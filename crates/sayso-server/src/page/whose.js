// Whose layers: what the policy says of one agent, file by file.
import { html, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Wrong, useLoaded } from '/parts.js';
import { Said, plain } from '/text.js';

const FIELDS = [['agent', 'coder'], ['provider', 'openai/gpt-4'], ['team', 'a'], ['member', 'alice'], ['tenant', 't1']];

export function Whose({ version }) {
  const [asked, setAsked] = useState(null);
  const { data, wrong } = useLoaded(() => (asked ? api.layers(asked) : Promise.resolve(null)), [JSON.stringify(asked), version]);
  const ask = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const query = Object.fromEntries(FIELDS.map(([name]) => [name, plain(form.get(name) ?? '').trim()]).filter(([, value]) => value));
    if (form.get('subagent')) query.subagent = 'true';
    setAsked(query);
  };
  return html`<details class="card whose"><summary>Layers in force for an agent</summary>
    <form class="filters" onSubmit=${ask}>
      ${FIELDS.map(([name, example]) => html`<label>${name} <input name=${name} placeholder=${example} autocomplete="off" maxlength="256" /></label>`)}
      <label><input type="checkbox" name="subagent" /> subagent</label>
      <button>Show layers</button></form>
    <${Wrong} text=${wrong} />
    ${data && data.layers.length === 0 && html`<p class="empty">No file says anything of this actor.</p>`}
    ${data && data.layers.length > 0 && html`<table aria-label="Layers in force"><thead><tr><th>layer</th><th>for</th><th>says</th><th>where</th><th></th></tr></thead>
      <tbody>${data.layers.map((it) => html`<tr>
        <td>${it.layer} ${it.kind}</td><td>${it.who && html`<${Said} text=${it.who} most=${80} />`}</td>
        <td><${Said} text=${it.says} most=${240} /></td><td class="source"><${Said} text=${it.source} most=${160} /></td>
        <td class="hint">${it.replaced_by ? html`replaced by <${Said} text=${it.replaced_by} most=${80} />` : !it.trusted && 'not trusted: its allows don’t apply'}</td></tr>`)}</tbody></table>`}
  </details>`;
}
