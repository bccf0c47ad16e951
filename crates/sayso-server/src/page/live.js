// What the page knows, kept up to date by the stream.
import { useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';

// Events may overtake answers: what is decided stays decided. Of a long question the events bring the beginning only.
function newer(old, fresh) {
  if (old.standing !== 'pending' && fresh.standing === 'pending') return old;
  return fresh.folded ? { ...fresh, command: old.command, arguments: old.arguments, folded: old.folded, marks: old.marks } : { ...fresh, marks: old.marks };
}

// A question with everything its card needs, so that nothing on it changes its height later: the whole call, and which
// parts of the command ask.
async function prepared(question) {
  const whole = question.folded ? await api.approval(question.id).catch(() => question) : question;
  if (typeof whole.command !== 'string') return whole;
  const where = { ...(whole.cwd && { cwd: whole.cwd }), ...(whole.workspace && { workspace: whole.workspace }) };
  const stop = AbortSignal.timeout(5000);
  const tried = await api.tryOut({ command: whole.command, nearest: false, ...where }, stop).catch(() => null);
  if (!tried) return { ...whole, marks: null };
  const spans = tried.effects.filter((it) => it.verdict !== 'allow' && it.span).map((it) => it.span);
  // Where all of it is unclear, marks would say nothing.
  return { ...whole, marks: spans.some(([start, end]) => end - start > 2000) ? [] : spans };
}

const ASKS_MS = 2000;
const same = (old, fresh) => JSON.stringify({ ...old, decisions: 0 }) === JSON.stringify({ ...fresh, decisions: 0 });

export function useLive(signOut) {
  const [approvals, setApprovals] = useState(null);
  const [status, setStatus] = useState(null);
  const [live, setLive] = useState(false);
  const [failed, setFailed] = useState(null);
  // Views that show something else of the record listen to its events.
  const listeners = useRef(new Set());

  // A known question keeps its place; a new one goes below. One that was over before it was seen here is no news.
  const put = (fresh) => setApprovals((all) => {
    if (all?.some((it) => it.id === fresh.id)) return all.map((it) => (it.id === fresh.id ? newer(it, fresh) : it));
    return fresh.standing === 'pending' ? [...(all ?? []), fresh] : all;
  });

  useEffect(() => {
    const stop = new AbortController();
    const coming = new Map();
    // Events about a question that is being prepared wait until it is there.
    const update = (fresh) => {
      const before = coming.get(fresh.id);
      const next = before ? before.then(() => put(fresh)) : fresh.standing === 'pending' ? prepared(fresh).then(put) : put(fresh);
      if (next) coming.set(fresh.id, next);
    };
    (async () => {
      try {
        setStatus(await api.status());
        const newest = (await api.audit({ kind: 'all', limit: 1, order: 'newest' }).catch(forbidden)).records[0]?.seq ?? 0;
        const waiting = (await api.approvals()).approvals.reverse();
        waiting.forEach((it) => coming.set(it.id, Promise.resolve()));
        setApprovals(await Promise.all(waiting.map(prepared)));
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

  const act = {
    update: put,
    refresh: (id) => api.approval(id).then(put, () => {}),
    putAway: () => setApprovals((all) => all.filter((it) => it.standing === 'pending')),
  };
  const on = (listen) => {
    listeners.current.add(listen);
    return () => listeners.current.delete(listen);
  };
  return { approvals, status, live, failed, on, act };
}

// An approver may answer and not read the record.
function forbidden(error) {
  if (error.status === 403) return { records: [] };
  throw error;
}
