// Everything that goes over the wire. The token lives in this tab only and is sent as a header, never in an address.
const TOKEN = 'sayso-token';

export const token = () => sessionStorage.getItem(TOKEN);
export const forget = () => sessionStorage.removeItem(TOKEN);

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error?.text ?? 'The server answered ' + status + '.');
    this.status = status;
  }
}

async function call(path, options = {}) {
  const headers = { ...(options.body && { 'Content-Type': 'application/json' }) };
  if (token()) headers.Authorization = 'Bearer ' + token();
  const answer = await fetch(path, { ...options, headers, cache: 'no-store', credentials: 'omit' });
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => null));
  return answer;
}

const json = async (path, options) => (await call(path, options)).json();

// The key stands after `#`, which browsers do not send, and is taken out of the address at once.
export function keyFromAddress() {
  const key = new URLSearchParams(location.hash.slice(1)).get('k');
  if (key) history.replaceState(null, '', location.pathname);
  return key;
}

export async function signIn(key) {
  const answer = await json('/v1/session', { method: 'POST', body: JSON.stringify({ key }) });
  sessionStorage.setItem(TOKEN, answer.token);
}

export const signOut = () => call('/v1/session', { method: 'DELETE' }).catch(() => null).then(forget);

export const status = () => json('/v1/status');
export const setMode = (run) => json('/v1/mode', { method: 'POST', body: JSON.stringify({ run }) });
export const team = (since) => json('/v1/team?since=' + since);
export const audit = (query) => json('/v1/audit?' + new URLSearchParams(query));
export const counts = (query) => json('/v1/audit/counts?' + new URLSearchParams(query));
export const tryOut = (body, signal) => json('/v1/try', { method: 'POST', body: JSON.stringify(body), signal });

export const approvals = (query) => json('/v1/approvals?' + new URLSearchParams(query));
export const approval = (id) => json('/v1/approvals/' + encodeURIComponent(id));
export const preview = (id, width) => json('/v1/approvals/' + encodeURIComponent(id) + '/preview?width=' + width);
export const context = (id) => json('/v1/approvals/' + encodeURIComponent(id) + '/context');
export const ruleFor = (id) => json('/v1/approvals/' + encodeURIComponent(id) + '/rule');
export const answer = (id, reply) => json('/v1/approvals/' + encodeURIComponent(id) + '/answer', { method: 'POST', body: JSON.stringify(reply) });

export const grants = (all) => json('/v1/grants' + (all ? '?all=true' : ''));
export const revoke = (id) => json('/v1/grants/' + encodeURIComponent(id), { method: 'DELETE' });
export const limits = (scope) => json('/v1/limits' + (scope === 'all' ? '' : '?scope=' + scope));
export const courses = (of, query) => json('/v1/' + of + '?' + new URLSearchParams(query));
export const course = (of, id, tenant) => json('/v1/' + of + '/' + encodeURIComponent(id) + (tenant ? '?tenant=' + encodeURIComponent(tenant) : ''));

export const policy = () => json('/v1/policy');
export const layers = (query) => json('/v1/policy/layers?' + new URLSearchParams(query));
export const versions = () => json('/v1/policy/versions');
export const version = (version) => json('/v1/policy/versions/' + encodeURIComponent(version));
export const validate = (text) => json('/v1/policy/validate', { method: 'POST', body: JSON.stringify({ text }) });
export const tryPolicy = (text, since) => json('/v1/policy/try', { method: 'POST', body: JSON.stringify({ text, ...(since && { since }) }) });
export const activate = (text, base) => json('/v1/policy/activate', { method: 'POST', body: JSON.stringify({ text, base }) });
export const rollBack = (version, base) => json('/v1/policy/rollback', { method: 'POST', body: JSON.stringify({ version, base }) });

// New records as they come, for ever: after a break it goes on behind the last one seen. Whoever follows with a page
// that can be seen counts as there; a page in the background must not hold callers for somebody who is not looking.
export async function follow(after, onRecord, onState, signal) {
  let pause = 500;
  while (!signal.aborted) {
    const seen = isSeen();
    const turn = new AbortController();
    const stop = () => turn.abort();
    const look = () => { if (isSeen() !== seen) stop(); };
    signal.addEventListener('abort', stop);
    document.addEventListener('visibilitychange', look);
    try {
      const answer = await call('/v1/stream?attend=' + seen + '&after=' + after, { signal: turn.signal });
      onState(true);
      pause = 500;
      for await (const record of events(answer.body)) {
        after = Math.max(after, record.seq);
        onRecord(record);
      }
    } catch (error) {
      if (error.status === 401) throw error;
      if (error.status === 409) { location.reload(); return; } // another record than the one that was shown
    } finally {
      signal.removeEventListener('abort', stop);
      document.removeEventListener('visibilitychange', look);
    }
    if (signal.aborted) return;
    if (turn.signal.aborted) continue; // seen or not seen any more: the same stream, told differently
    onState(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 10000);
  }
}

const isSeen = () => document.visibilityState === 'visible';

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    const parts = buffer.split('\n\n');
    buffer = parts.pop();
    for (const part of parts) {
      const data = part.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n');
      if (data.trim()) yield JSON.parse(data);
    }
  }
}
