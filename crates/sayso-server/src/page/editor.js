// The user's own policy file, edited here: checked as it is typed, tried on past calls, and put in force with a yes.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Flips } from '/flips.js';
import { Confirm, Wrong, many } from '/parts.js';
import { visible } from '/text.js';

const CHECKS_MS = 350;

export function Editor({ file, base, done, close }) {
  const begin = file?.text ?? 'extends = ["developer"]\n\n# Rules of your own come here. `sayso explain` and docs/policy.md describe them.\n';
  const [text, setText] = useState(begin);
  const [checked, setChecked] = useState(null);
  const [flips, setFlips] = useState(null);
  const [wrong, setWrong] = useState(null);
  const [busy, setBusy] = useState(false);
  const [put, setPut] = useState(null);
  const box = useRef(null);
  const gutter = useRef(null);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => {
    setFlips(null);
    setPut(null);
    let wanted = true;
    const timer = setTimeout(() => {
      api.validate(text).then((it) => wanted && (setChecked({ ...it, text }), setWrong(null)), (error) => wanted && setWrong(error.message));
    }, CHECKS_MS);
    return () => { wanted = false; clearTimeout(timer); };
  }, [text]);
  const current = checked?.text === text;
  const tryIt = async () => {
    setBusy(true);
    await api.tryPolicy(text).then((it) => { setFlips(it); setWrong(null); }, (error) => setWrong(error.message));
    setBusy(false);
  };
  const activate = () => api.activate(text, base).then((it) => { setPut(it); setWrong(null); done(); }, (error) => setWrong(error.message));
  const errors = checked?.problems.filter((it) => !it.warning).length ?? 0;
  const warnings = (checked?.problems.length ?? 0) - errors;
  const lines = text.split('\n').length;
  const said = !current ? 'checking…' : errors ? many(errors, 'error') : warnings ? 'valid, with ' + many(warnings, 'warning') : 'valid';
  return html`<article class="card editor" aria-label="Edit your policy file">
    <div class="title"><h3>Edit your policy file</h3><span class=${'badge ' + (current && errors ? 'deny' : current ? 'fine' : '')} role="status">${said}</span></div>
    <div class="paper"><pre class="numbers" ref=${gutter} aria-hidden="true">${Array.from({ length: lines }, (_, at) => (current && checked.problems.some((it) => it.line === at + 1) ? '● ' : '') + (at + 1)).join('\n')}</pre>
      <textarea ref=${box} aria-label="Text of your policy file" value=${text} rows=${Math.min(30, Math.max(10, lines + 1))} spellcheck=${false} autocapitalize="off" autocomplete="off" wrap="off"
        onScroll=${(event) => { gutter.current.scrollTop = event.target.scrollTop; }} onInput=${(event) => setText(event.target.value)}></textarea></div>
    ${current && checked.problems.length > 0 && html`<ul class="problem-list">${checked.problems.slice(0, 12).map((it) => html`<li class=${it.warning ? 'warns' : 'refuses'}><strong>line ${it.line}</strong> ${visible(it.text)} <code class="code">${visible(it.code)}</code>${it.suggestion && html` · ${visible(it.suggestion)}`}</li>`)}</ul>`}
    <${Wrong} text=${wrong} />
    ${flips && html`<${Flips} flips=${flips} />`}
    ${put && html`<p role="status">In force now, as version ${visible(put.version.slice(0, 12))}. ${put.before && html`The previous file was saved to <code>${visible(put.before)}</code>.`}</p>`}
    <p class="acts">
      <button disabled=${!current || !checked.valid || busy} onClick=${tryIt}>${busy ? 'Trying…' : 'Try on the last 30 days'}</button>
      ${current && checked.valid && text !== begin && !put && html`<${Confirm} label="Put in force" question="It applies from the next call." yes="Yes, put it in force" act=${activate} small=${false} />`}
      <button class="quiet" onClick=${close}>Close</button></p>
  </article>`;
}
