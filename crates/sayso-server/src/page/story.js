// A session told in order: what it asked for, who answered, what the kernel held back, and what rules remember of it.
import { html, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Time, Wrong, duration, many, useLoaded } from '/parts.js';
import { Line, Said } from '/text.js';
import { Verdict } from '/verdict.js';

const PAGE = 200;
const PAUSE_MS = 10 * 60_000;

const KINDS = 'decision,approval,happening,grant,limit';

export function Story({ session, tenant, ticks }) {
  const [most, setMost] = useState(PAGE);
  const query = { session, kind: KINDS, order: 'oldest', limit: most, ...(tenant && { tenant }) };
  const { data, wrong } = useLoaded(() => api.audit(query), [session, most, ticks]);
  const records = data?.records ?? [];
  return html`<div class="story"><h3>What happened</h3>
    <${Wrong} text=${wrong} />
    ${data && records.length === 0 && html`<p class="hint">Nothing is on record.</p>`}
    <ol>${records.map((it, index) => html`${index > 0 && it.time_ms - records[index - 1].time_ms > PAUSE_MS && html`<li class="pause">${duration(it.time_ms - records[index - 1].time_ms)} later</li>`}<${Step} key=${it.seq} it=${it} />`)}</ol>
    ${records.length === most && most < 1000 && html`<button class="quiet" onClick=${() => setMost(Math.min(1000, most + PAGE))}>Show more</button>`}
  </div>`;
}

function Step({ it }) {
  if (it.kind === 'decision') return html`<${Call} it=${it} />`;
  const [words, detail] = told(it);
  if (!words) return null;
  return html`<li class="beside"><${Time} ms=${it.time_ms} /><span class="mark" aria-hidden="true">·</span><span>${words}${detail && html` <${Said} text=${detail} most=${160} />`}</span></li>`;
}

function Call({ it }) {
  const [reason] = it.reasons;
  const held = it.hold?.startsWith('required') || it.hold?.startsWith('wanted');
  return html`<li class="step ${it.answer}"><${Time} ms=${it.time_ms} /><${Verdict} verdict=${it.answer} />
    <div><code><${Line} text=${it.command ?? it.tool + ' ' + first(it)} most=${160} /></code>
      ${it.answer !== 'allow' && reason && html`<p class="hint"><${Line} text=${reason.text} most=${200} /></p>`}
      ${it.answer === 'allow' && ['approved', 'granted', 'held'].includes(reason?.code) && html`<p class="hint"><${Line} text=${reason.text} most=${200} /></p>`}
      ${held && html`<span class="badge fine">held</span>`}
      ${it.past?.length > 0 && html`<p class="hint">after ${many(it.past.length, 'earlier call')}: ${it.past.slice(0, 2).map((past) => html`<${Said} text=${past.command} most=${80} /> `)}</p>`}</div></li>`;
}

const first = (it) => {
  const found = it.effects?.find((effect) => effect.verb !== 'call');
  return found ? found.verb + ' ' + found.target : '';
};

// What stands in the record beside decisions, in words.
function told(it) {
  const detail = it.detail ?? {};
  const by = it.by ? ' by ' + it.by : '';
  switch (it.what) {
    case 'asked': return ['A person was asked.', null];
    case 'answered': return [(it.by ?? 'Somebody') + (it.verdict === 'allow' ? ' said yes' : ' said no') + (detail.remember && detail.remember !== 'once' ? ', ' + (detail.remember === 'always' ? 'always here' : 'for the session') : '') + '.', null];
    // The answer says it already.
    case 'approved': case 'denied': case 'used': return [null];
    case 'expired': return ['Nobody answered in time.', null];
    case 'cancelled': return ['Nobody answered: the question was withdrawn.', detail.why ?? null];
    case 'held-back': return ['The kernel held back', detail.target ?? detail.path ?? detail.host ?? JSON.stringify(detail)];
    case 'unheld': return ['A command ran without the hold under which it was allowed.', null];
    case 'stopped': return ['The session was stopped.', detail.why ?? null];
    default: return [(it.what ?? it.kind ?? 'something').replace(/-/g, ' ') + by, it.about && it.about !== it.session ? it.about : null];
  }
}
