// What the page knows, kept up to date by the stream.
import { useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';

// Events may overtake answers: what is decided stays decided. Of a long question the events bring the beginning only.
function newer(old, fresh) {
  if (old.standing !== 'pending' && fresh.standing === 'pending') return old;
  const kept = { marks: old.marks, ready: old.ready, context: old.context };
  return fresh.folded ? { ...fresh, ...kept, command: old.command, arguments: old.arguments, folded: old.folded } : { ...fresh, ...kept };
}

// A known question keeps its place; a new one goes below. One that was over before it was shown is no news.
function merged(all, fresh) {
  const known = new Map((all ?? []).map((it) => [it.id, it]));
  for (const it of fresh) {
    const old = known.get(it.id);
    const next = old ? newer(old, it) : it;
    if (next.standing === 'pending' || old?.ready) known.set(it.id, next); else known.delete(it.id);
  }
  return [...known.values()];
}

// A question with everything its card needs, so that nothing on it changes its height later: the whole call, and which
// parts of the command ask.
async function prepared(question) {
  const [found, context] = await Promise.all([
    question.folded ? api.approval(question.id).catch(() => question) : question,
    api.context(question.id).catch(() => null),
  ]);
  const whole = { ...found, context };
  if (typeof whole.command !== 'string') return { ...whole, ready: true };
  const where = { ...(whole.cwd && { cwd: whole.cwd }), ...(whole.workspace && { workspace: whole.workspace }) };
  const stop = AbortSignal.timeout(5000);
  const tried = await api.tryOut({ command: whole.command, nearest: false, ...where }, stop).catch(() => null);
  if (!tried) return { ...whole, marks: null, ready: true };
  const spans = tried.effects.filter((it) => it.verdict !== 'allow' && it.span).map((it) => it.span);
  return { ...whole, marks: telling(spans), ready: true };
}

// Where all of a long command is unclear, marks would say nothing.
export const telling = (spans) => (spans.some(([start, end]) => end - start > 2000) ? [] : spans);

const PAGE = 200; // questions fetched at a time
const MOST = 5000; // questions listed
const TOGETHER = 8; // questions prepared at once
const GATHERS_MS = 50; // news that come so close together are shown together
const ASKS_MS = 2000;
const same = (old, fresh) => JSON.stringify({ ...old, decisions: 0 }) === JSON.stringify({ ...fresh, decisions: 0 });

export function useLive(signOut) {
  const [approvals, setApprovals] = useState(null);
  const [status, setStatus] = useState(null);
  const [live, setLive] = useState(false);
  const [failed, setFailed] = useState(null);
  // Views that show something else of the record listen to its events.
  const listeners = useRef(new Set());

  const [more, setMore] = useState(false);
  const put = (fresh) => setApprovals((all) => merged(all, [fresh]));

  useEffect(() => {
    const stop = new AbortController();
    let news = [];
    const update = (fresh) => {
      if (news.push(fresh) > 1) return;
      setTimeout(() => { const fresh = news; news = []; setApprovals((all) => merged(all, fresh)); }, GATHERS_MS);
    };
    (async () => {
      try {
        setStatus(await api.status());
        const newest = (await api.audit({ kind: 'all', limit: 1, order: 'newest' }).catch(forbidden)).records[0]?.seq ?? 0;
        let [listed, after] = [0, null];
        do {
          const page = await api.approvals({ order: 'oldest', limit: PAGE, ...(after && { after }) });
          setApprovals((all) => merged(all ?? [], page.approvals));
          listed += page.approvals.length;
          after = page.next;
        } while (after && listed < MOST);
        setMore(Boolean(after));
        const onEvent = (record) => {
          if (record.approval) update(record.approval);
          listeners.current.forEach((listen) => listen(record));
        };
        await api.follow(newest, onEvent, setLive, stop.signal);
      } catch (error) {
        if (error.status === 401) signOut();
        else if (!stop.signal.aborted) setFailed(error.message);
      }
    })();
    return () => stop.abort();
  }, []);

  // A policy file may change without a call that would be recorded: the server is asked what is in force.
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && live) api.status().then((fresh) => setStatus((old) => (same(old, fresh) ? old : fresh)), () => {});
    }, ASKS_MS);
    return () => clearInterval(timer);
  }, [live]);

  // What is about to be shown is prepared, a few at a time.
  const queue = useRef([]);
  const busy = useRef(new Set());
  const done = useRef(new Map());
  const show = () => {
    const ready = done.current;
    if (ready.size === 0) return;
    done.current = new Map();
    // How each stands may be newer by now than what was prepared.
    setApprovals((all) => all.flatMap((it) => (!ready.has(it.id) ? [it] : it.standing === 'pending' ? [{ ...ready.get(it.id), standing: it.standing, answers: it.answers }] : [])));
  };
  const work = async () => {
    for (let next = queue.current.shift(); next; next = queue.current.shift()) {
      const whole = await prepared(next);
      busy.current.delete(next.id);
      done.current.set(whole.id, whole);
      if (busy.current.size === 0) show(); else if (done.current.size === 1) setTimeout(show, GATHERS_MS);
    }
  };
  const prepare = (wanted) => {
    const fresh = wanted.filter((it) => !busy.current.has(it.id));
    fresh.forEach((it) => busy.current.add(it.id));
    const idle = queue.current.length === 0 ? TOGETHER : 0;
    queue.current.push(...fresh);
    for (let worker = 0; worker < Math.min(idle, fresh.length); worker++) work();
  };

  const act = {
    prepare,
    update: put,
    refresh: (id) => api.approval(id).then(put, () => {}),
    putAway: () => setApprovals((all) => all.filter((it) => it.standing === 'pending')),
  };
  const on = (listen) => {
    listeners.current.add(listen);
    return () => listeners.current.delete(listen);
  };
  // After something that changes what is in force.
  const look = () => api.status().then(setStatus, () => {});
  return { approvals, more, status, live, failed, on, act, look };
}

// An approver may answer and not read the record.
function forbidden(error) {
  if (error.status === 403) return { records: [] };
  throw error;
}
