// One question behind a one-time link. The link stands behind `#`, which browsers do not send, and is taken out of the
// address at once. Nothing is answered before somebody presses a button.
import { html, render, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import { About, Standing, useLeft } from '/card.js';
import { useSettled } from '/parts.js';
import { telling } from '/live.js';
import { Said, visible } from '/text.js';

const link = location.hash.slice(1);
history.replaceState(null, '', location.pathname);

async function post(path, body) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ link, ...body }),
    cache: 'no-store',
    credentials: 'omit',
  }).catch(() => {
    throw new Error('The server cannot be reached. Nothing was answered: look whether it still runs, and try again.');
  });
  const told = await answer.json().catch(() => null);
  if (answer.ok) return told;
  throw Object.assign(new Error(told?.error?.text ?? 'The server said ' + answer.status + '.'), { over: answer.status === 410 || answer.status === 409 });
}

function Page() {
  const [told, setTold] = useState(null);
  const [end, setEnd] = useState(null);
  const [wrong, setWrong] = useState(null);

  const look = async () => {
    setWrong(null);
    try {
      if (!link) throw Object.assign(new Error('This address has no link in it: it only works when opened from the message. Open the message again.'), { over: true });
      const found = await post('/v1/links/question', {});
      if (found.approval.standing === 'pending') setTold(found);
      else setEnd({ title: 'Already settled', text: 'This call is already ' + found.approval.standing + '. There is nothing left to do here.' });
    } catch (error) {
      if (error.over) setEnd({ title: 'Nothing to answer', text: error.message }); else setWrong(error.message);
    }
  };
  useEffect(() => { look(); }, []);

  let content = html`<p class="loading">Loading…</p>`;
  if (end) content = html`<${End} ...${end} />`;
  else if (told) content = html`<${Question} told=${told} setEnd=${setEnd} />`;
  else if (wrong) content = html`<section class="card ended"><h2>Not loaded</h2><p class="wrong" role="alert">${visible(wrong)}</p><p><button onClick=${look}>Try again</button></p></section>`;
  return html`<header><h1><img src="/icon.svg" alt="" width="24" height="24" /> Sayso</h1></header><main class="narrow">${content}</main>`;
}

// What became of it. It takes the focus, so that a press too many does nothing and a screen reader says it.
function End({ title, text, approval }) {
  const place = useRef(null);
  useEffect(() => place.current?.focus(), []);
  return html`<section class="card ended ${approval?.standing ?? ''}" tabindex="-1" ref=${place} role="status">
    <h2>${title}</h2><p>${visible(text)}</p>
    ${!approval && html`<p>What still waits is on <a href="/">the page</a>, for whoever has its key; in the terminal: <code>sayso approvals list</code>.</p>`}
    ${approval && html`<${About} approval=${approval} />`}
  </section>`;
}

const ENDS = {
  approved: ['Allowed', 'The call may run now, once. You can close this page.'],
  denied: ['Denied', 'The call does not run, and the agent is told so. You can close this page.'],
  pending: ['Your answer counts', 'Others must answer too before the call may run. You can close this page.'],
};

function Question({ told: { approval: bare, marks, person }, setEnd }) {
  const approval = { ...bare, marks: marks && telling(marks) };
  const place = useRef(null);
  const settled = useSettled(place);
  const [sent, setSent] = useState(false);
  const [wrong, setWrong] = useState(null);
  const left = useLeft(approval);

  const answer = async (verdict) => {
    if (!settled || sent) return;
    setSent(true);
    setWrong(null);
    try {
      const { standing } = await post('/v1/links/answer', { verdict });
      const [title, text] = ENDS[standing] ?? ['Answered', 'The call is now ' + standing + '.'];
      setEnd({ title, text, approval: { ...approval, standing } });
    } catch (error) {
      if (error.over) setEnd({ title: 'Not answered', text: error.message }); else setWrong(error.message);
      setSent(false);
    }
  };

  const open = settled && !sent && left > 0;
  return html`<section class="card question pending" aria-labelledby="asks">
    <h2 class="asks" id="asks"><${Said} text=${approval.actor.agent ?? approval.way_in} most=${60} /> wants to use <${Said} text=${approval.tool} />
      <span class="left"><${Standing} approval=${approval} left=${left} /></span></h2>
    <${About} approval=${approval} />
    <div class="answers" role="group" aria-label="Answer" ref=${place}>
      <p class="as">You answer as <strong>${visible(person.name)}</strong>: once, and for this call alone.</p>
      <button class="yes" disabled=${!open} onClick=${() => answer('allow')}>${approval.left_out ? 'Allow unseen' : 'Allow'}</button>
      <button class="no" disabled=${!open} onClick=${() => answer('deny')}>Deny</button>
      ${left === 0 && html`<p class="hint">If the agent asks again, a new message comes.</p>`}
      <p class="wrong ${wrong ? '' : 'nothing'}" role="alert">${wrong && visible(wrong)}</p>
    </div>
  </section>`;
}

const root = document.getElementById('app');
root.textContent = '';
render(html`<${Page} />`, root);
