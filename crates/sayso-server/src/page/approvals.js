// Questions that wait for a person. A card stays where it is: new ones come below, and one that was answered keeps its
// place until it is put away, so that nothing moves under a finger.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import { Card } from '/card.js';
import { isTyping } from '/keys.js';

export function Approvals({ approvals, act, status }) {
  const [at, setAt] = useState(null);
  const list = useRef(null);
  const title = useRef(null);
  const all = approvals ?? [];
  const waiting = all.filter((it) => it.standing === 'pending');
  const over = all.length - waiting.length;

  useEffect(() => {
    const onKey = (event) => {
      if (isTyping(event) || event.repeat) return;
      if (event.key === 'j' || event.key === 'k') {
        const index = all.findIndex((it) => it.id === at);
        const next = all[index < 0 ? 0 : Math.max(0, Math.min(all.length - 1, index + (event.key === 'j' ? 1 : -1)))];
        if (next) {
          setAt(next.id);
          const card = list.current?.querySelector(`[data-id="${next.id}"]`);
          card?.focus();
          card?.scrollIntoView({ block: 'nearest' });
        }
      }
      if (event.key === 'a' || event.key === 'd') {
        // Only the card that has the focus, never one that happens to be first.
        const card = document.activeElement?.closest('[data-id]');
        card?.querySelector(event.key === 'a' ? '.answers .yes.by-key' : '.answers .no')?.click();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  const putAway = () => { act.putAway(); title.current?.focus(); };
  return html`<section class="approvals" aria-labelledby="approvals-title">
    <div class="title">
      <h2 id="approvals-title" ref=${title} tabindex="-1">Approvals</h2>
      <span class="hint" role="status">${approvals && counted(waiting.length)}</span>
    </div>
    ${approvals === null && html`<p class="loading">Loading…</p>`}
    ${approvals?.length === 0 && html`<${Nothing} status=${status} />`}
    <ol class="cards" ref=${list}>${all.map((it) => html`<${Card} key=${it.id} approval=${it} act=${act} focused=${() => setAt(it.id)} />`)}</ol>
    ${over > 0 && html`<button class="quiet away" onClick=${putAway}>Put away ${over} answered</button>`}
  </section>`;
}

const counted = (many) => (many === 0 ? 'nothing waits' : many === 1 ? '1 question waits' : many + ' questions wait');

function Nothing({ status }) {
  return html`<div class="empty card"><p><strong>Nothing waits for you.</strong> While this page can be seen, questions of
      guarded agents come here and their callers wait for your answer.</p>
    ${status?.next && html`<p>To guard an agent: <code>${status.next}</code></p>`}
    <p>To see a question now: <code>curl ${location.origin}/v1/decisions -H 'Content-Type: application/json' -d '${'{"command": "git push", "cwd": "/", "wait": 60}'}'</code></p></div>`;
}
