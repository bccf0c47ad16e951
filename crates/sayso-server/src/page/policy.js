// The policy in force: its files by layer with what is wrong in their lines, and its versions.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Editor } from '/editor.js';
import { step } from '/keys.js';
import { Lines } from '/lines.js';
import { Confirm, Time, Wrong, many, useLoaded, useTicks } from '/parts.js';
import { Said, plain, visible } from '/text.js';
import { Verdict } from '/verdict.js';
import { Whose } from '/whose.js';

const LAYERS = {
  managed: 'for this machine: applies to everyone here',
  user: 'yours',
  project: 'from the project: it came with the repository',
  given: 'from the command line of the server',
};

const isOwn = (file) => file.layer === 'user' && !file.name.startsWith('preset:');

export function Policy({ on, status }) {
  const ticks = useTicks(on, ['policy']);
  const { data, wrong, again } = useLoaded(() => api.policy(), [ticks, status?.policy_version, status?.notices.join()]);
  const loaded = useLoaded(() => api.versions(), [ticks, data?.version]);
  const [editing, setEditing] = useState(false);
  const edits = data && !data.fixed && !data.notices.some((it) => it.file && isOwn(it.file));
  const own = data?.files.find(isOwn);
  return html`<section class="layers" aria-labelledby="policy-title">
    <div class="title"><h2 id="policy-title">Policy in force</h2>
      ${data && html`<span class="hint">version ${visible(data.version.slice(0, 12))} for <${Said} text=${data.workspace} most=${120} /></span>`}</div>
    <${Wrong} text=${wrong} />
    ${data === null && !wrong && html`<p class="loading">Loading…</p>`}
    ${data?.floor && html`<p class="notice">A file cannot be read: every call is at least <${Verdict} verdict=${data.floor} /> until it is fixed.</p>`}
    ${data?.notices.map((it) => html`<${Notice} notice=${it} />`)}
    ${editing && edits && html`<${Editor} file=${own} base=${data.version} done=${again} close=${() => setEditing(false)} />`}
    ${data?.files.map((it) => !(editing && isOwn(it)) && html`<${File} key=${it.layer + it.name} file=${it} edit=${edits && isOwn(it) ? () => setEditing(true) : null} />`)}
    ${data && !editing && !data.fixed && !data.files.some(isOwn) && !data.notices.some((it) => it.file && isOwn(it.file)) && html`<div class="empty card">
      <p><strong>You have no policy file yet.</strong> A preset decides.</p><p><button onClick=${() => setEditing(true)}>Write one here</button> or run <code>sayso init</code>.</p></div>`}
    ${data?.presets.map((it) => html`<${Preset} key=${it.name} preset=${it} />`)}
    ${data && html`<${Whose} version=${data.version} />`}
    <${Wrong} text=${loaded.wrong} />
    ${loaded.data && data && html`<${Versions} versions=${loaded.data.versions} fixed=${data.fixed} base=${data.version} again=${again} />`}
  </section>`;
}

// Rules name their place in a preset by line, so its lines can be looked at.
function Preset({ preset }) {
  const name = 'preset:' + preset.name;
  return html`<details class="card preset"><summary>What <${Said} text=${name} /> says, in ${many(preset.text.split('\n').length - 1, 'line')}</summary>
    <${Lines} text=${preset.text} label=${'Text of ' + name} /></details>`;
}

function File({ file, edit }) {
  const errors = file.problems.filter((it) => !it.warning).length;
  const preset = file.name.startsWith('preset:');
  return html`<article class="card policy-file" aria-label=${'Policy file ' + plain(file.name)}>
    <div class="title"><h3><${Said} text=${file.name} most=${160} /></h3>
      <span class="hint">${preset ? 'a built-in preset' : LAYERS[file.layer] ?? visible(file.layer)}</span>
      ${!file.trusted && html`<span class="badge">not trusted: only its asks and denies apply</span>`}
      ${file.problems.length > 0 && html`<span class=${errors ? 'badge deny' : 'badge'}>${errors ? many(errors, 'error') : many(file.problems.length, 'warning')}</span>`}
      ${edit && html`<button class="quiet act" onClick=${edit}>Edit</button>`}</div>
    ${!file.trusted && html`<p>Read it, then run <code>sayso trust</code> in that folder to let its allows apply.</p>`}
    <${Lines} text=${file.text} problems=${file.problems} label=${'Text of ' + plain(file.name)} />
  </article>`;
}

// Something that is not in force, and why.
function Notice({ notice }) {
  return html`<div class="card policy-file refused"><p class="notice"><strong>${visible(notice.text)}</strong> <code class="code">${visible(notice.code)}</code></p>
    ${notice.file && html`<${File} file=${notice.file} />`}</div>`;
}

function Versions({ versions, fixed, base, again }) {
  const [open, setOpen] = useState(null);
  const [all, setAll] = useState(false);
  const list = useRef(null);
  useEffect(() => {
    const onKey = (event) => step(event, list.current, '.row');
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const shown = all ? versions : versions.slice(0, 20);
  return html`<div class="versions"><h2>Versions</h2>
    ${versions.length === 0 && html`<p class="empty card">No version has decided a call yet. Each one that does is kept, and can be compared and restored.</p>`}
    <ol class="list" ref=${list}>${shown.map((it) => html`<li key=${it.version}>
      <button class="row" aria-expanded=${open === it.version} onClick=${() => setOpen(open === it.version ? null : it.version)}>
        <${Time} ms=${it.first_ms} /><code>${visible(it.version.slice(0, 16))}</code><span class="what"></span>
        <span class="who">${it.in_force ? html`<strong>in force</strong>` : 'compare'}</span></button>
      ${open === it.version && html`<${Version} version=${it} fixed=${fixed} base=${base} again=${again} />`}</li>`)}</ol>
    ${shown.length < versions.length && html`<button class="more-rows" onClick=${() => setAll(true)}>Show all ${versions.length} versions</button>`}
  </div>`;
}

function Version({ version, fixed, base, again }) {
  const { data, wrong } = useLoaded(() => api.version(version.version), [version.version, base]);
  const [done, setDone] = useState(null);
  const [failed, setFailed] = useState(null);
  const place = useRef(null);
  const own = data?.files.some(isOwn);
  const back = () => api.rollBack(version.version, base).then((it) => { setDone(it); setFailed(null); again(); }, (error) => setFailed(error.message));
  return html`<div class="detail" ref=${place} tabindex="-1">
    <${Wrong} text=${wrong ?? failed} />
    ${data && html`<p class="hint">${data.files.map((it) => html`<${Said} text=${it.name} most=${100} /> `)}</p>`}
    ${data && !version.in_force && (data.diff ? html`<p>From this version to the one in force:</p><${Unified} text=${data.diff} />` : html`<p>Identical to the version in force.</p>`)}
    ${data && version.in_force && html`<p>This version is in force.</p>`}
    ${done && html`<p role="status">Restored. ${done.before && html`The previous file was saved to <${Said} text=${done.before} most=${160} />.`}</p>`}
    ${data && !version.in_force && !fixed && (own
      ? html`<p><${Confirm} label="Restore this version" question="Your policy file will be replaced with this version." yes="Yes, restore it" act=${back} small=${false} /></p>`
      : html`<p class="hint">This version has no policy file of yours to restore.</p>`)}
  </div>`;
}

// A unified diff; what was removed since then and what came.
function Unified({ text }) {
  const kind = (line) => (/^(\+\+\+|---|@@)/.test(line) ? 'about' : line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same');
  return html`<pre class="diff" tabindex="0" aria-label="The difference">${text.replace(/\n$/, '').split('\n').map((line) => html`<span class="line ${kind(line)}"><bdi dir="ltr">${visible(line)}</bdi>${'\n'}</span>`)}</pre>`;
}
