// "From now on": the narrowest rule that lets such calls pass, shown with what else it would let pass, then put in force.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Flips } from '/flips.js';
import { Wrong, useLoaded, useSettled } from '/parts.js';
import { Block, Said, visible } from '/text.js';

export function FromNowOn({ approval, allow, ready, close }) {
  const { data, wrong } = useLoaded(() => api.ruleFor(approval.id), [approval.id]);
  const tried = useLoaded(() => (data?.text ? api.tryPolicy(data.text) : Promise.resolve(null)), [data?.text]);
  const [failed, setFailed] = useState(null);
  const [busy, setBusy] = useState(false);
  const place = useRef(null);
  useEffect(() => place.current?.focus(), []);
  // The call is answered first: a yes holds for the policy under which it was asked.
  const go = async () => {
    setBusy(true);
    try {
      await allow();
      await api.activate(data.text, data.base);
      setFailed(null);
      close();
    } catch (error) {
      setFailed(error.message);
    }
    setBusy(false);
  };
  return html`<div class="from-now-on" ref=${place} tabindex="-1" role="group" aria-label="Allow such calls from now on">
    <${Wrong} text=${wrong ?? failed} />
    ${!data && !wrong && html`<p class="loading">Looking for the narrowest rule…</p>`}
    ${data?.instead && html`<p>No rule is offered for this. ${visible(data.instead)}</p>`}
    ${data?.rule && html`<p class="label">This rule is added to your policy file:</p><${Block} text=${data.rule.trim()} label="The rule" />
      ${data.widest && html`<p>The widest call it also allows: <${Said} text=${data.widest} most=${200} /></p>`}
      ${tried.data && html`<${Flips} flips=${tried.data} />`}
      <${Wrong} text=${tried.wrong} />`}
    <p class="acts">${!data?.instead && html`<${Add} key=${tried.data ? 'tried' : 'not yet'} ready=${ready && data?.rule && tried.data && !tried.wrong && !busy} go=${go} />`}
      <button class="quiet" disabled=${busy} onClick=${close}>Back</button></p>
  </div>`;
}

// It stands there from the beginning, so that nothing takes the place of "Back", and takes a press only once what the rule
// would have changed is shown and has stood still.
function Add({ ready, go }) {
  const place = useRef(null);
  const settled = useSettled(place);
  return html`<span ref=${place}><button class="yes" disabled=${!ready || !settled} onClick=${go}>Allow, and add the rule</button></span>`;
}
