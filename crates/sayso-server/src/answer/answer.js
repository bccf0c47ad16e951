// One question behind a one-time link. The link stands behind `#`, which browsers do not send, and is taken out of the
// address at once. Nothing is answered before somebody presses a button.
import { html, render } from '/vendor/preact-htm.js';
import { Block, Line } from '/text.js';

const link = location.hash.slice(1);
history.replaceState(null, '', location.pathname);

const root = document.getElementById('app');
root.textContent = '';
const show = (content) => render(html`<main><h1>A question</h1>${content}</main>`, root);
const say = (text) => show(html`<p role="status">${text}</p>`);

async function post(path, body) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ link, ...body }),
    cache: 'no-store',
    credentials: 'omit',
  });
  const told = await answer.json().catch(() => null);
  if (!answer.ok) throw new Error(told?.error?.text ?? 'The server said ' + answer.status + '.');
  return told;
}

async function answer(verdict) {
  say('Sending…');
  try {
    const told = await post('/v1/links/answer', { verdict });
    say('Answered. The question is now ' + told.standing + '.');
  } catch (error) {
    say(error.message);
  }
}

function question({ approval, person }) {
  const call = approval.command ?? approval.tool + ' ' + JSON.stringify(approval.arguments ?? {}, null, 2);
  return html`
    <p>Who asks: <b><${Line} text=${approval.actor?.agent ?? 'somebody'} /></b>, in <${Line} text=${approval.workspace ?? 'no folder'} /></p>
    <${Block} text=${call} label="What would run" />
    ${approval.left_out && html`<p class="warning">The call is so long that not all of it was kept.</p>`}
    <ul class="effects" aria-label="What would happen">${approval.effects.map((it) => html`<li>${it.verb} <${Line} text=${it.target} /></li>`)}</ul>
    ${approval.more_effects > 0 && html`<p class="warning">And ${approval.more_effects} more effects that were not kept.</p>`}
    <p>Why it is asked: <${Line} text=${approval.reasons?.[0]?.text} /></p>
    <p>You answer as <b>${person.name}</b>, once, for this call alone.</p>
    <p><button type="button" onClick=${() => answer('allow')}>Allow</button> <button type="button" onClick=${() => answer('deny')}>Deny</button></p>`;
}

try {
  if (!link) throw new Error('There is no link in this address. Open the message again.');
  const told = await post('/v1/links/question', {});
  if (told.approval.standing !== 'pending') throw new Error('This question is over: ' + told.approval.standing + '.');
  show(question(told));
} catch (error) {
  say(error.message);
}
