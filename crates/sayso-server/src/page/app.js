// The page: who is signed in, what is shown, and the keys.
import { html, render, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Approvals } from '/approvals.js';
import { Decisions } from '/decisions.js';
import { TryBox } from '/try.js';
import { visible } from '/text.js';

// Events may overtake answers: what is decided stays decided.
const newer = (old, fresh) => (old.standing !== 'pending' && fresh.standing === 'pending' ? old : fresh);

const MOST = 500; // kept in the page; the record keeps all

function App() {
  const [signed, setSigned] = useState(api.token() ? 'in' : 'checking');
  const [wrong, setWrong] = useState(null);
  const signIn = async (key) => {
    try {
      await api.signIn(key);
      setWrong(null);
      setSigned('in');
    } catch (error) {
      setWrong(error.message);
      setSigned('out');
    }
  };
  const signOut = () => { api.forget(); setSigned('out'); };
  useEffect(() => {
    const key = api.keyFromAddress();
    if (key) signIn(key); else if (!api.token()) setSigned('out');
  }, []);
  if (signed === 'checking') return html`<p class="loading">Signing in…</p>`;
  return signed === 'in' ? html`<${Home} signOut=${signOut} />` : html`<${SignIn} signIn=${signIn} wrong=${wrong} />`;
}

function SignIn({ signIn, wrong }) {
  const [key, setKey] = useState('');
  const submit = (event) => { event.preventDefault(); signIn(key.trim()); };
  return html`<main class="signin">
    <h1><img src="/icon.svg" alt="" width="32" height="32" /> Sayso</h1>
    <p>Open the link that <code>sayso serve</code> printed in the terminal, or type its key here. A key works once; when
      it is used, the terminal shows the next one.</p>
    <form onSubmit=${submit}>
      <label for="key">Key</label>
      <div class="together">
        <input id="key" value=${key} onInput=${(event) => setKey(event.target.value)} placeholder="XXXX-XXXX"
          autocomplete="off" autocapitalize="characters" spellcheck=${false} maxlength="16" required />
        <button>Sign in</button>
      </div>
      ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
    </form>
  </main>`;
}

function Home({ signOut }) {
  const [records, setRecords] = useState(null);
  const [approvals, setApprovals] = useState([]);
  const [view, setView] = useState('approvals');
  const [status, setStatus] = useState(null);
  const [live, setLive] = useState(false);
  const [help, setHelp] = useState(false);
  const [failed, setFailed] = useState(null);
  const tryBox = useRef(null);

  // A known question keeps its place; a new one goes below. One that was over before it was seen here is no news.
  const update = (fresh) => setApprovals((all) => {
    if (all.some((it) => it.id === fresh.id)) return all.map((it) => (it.id === fresh.id ? newer(it, fresh) : it));
    return fresh.standing === 'pending' ? [...all, fresh] : all;
  });
  const act = {
    update,
    refresh: (id) => api.approval(id).then(update, () => {}),
    putAway: () => setApprovals((all) => all.filter((it) => it.standing === 'pending')),
  };

  useEffect(() => {
    const stop = new AbortController();
    (async () => {
      try {
        setStatus(await api.status());
        const first = await api.records({ limit: 200, order: 'newest' });
        setRecords(first.records);
        setApprovals((await api.approvals()).approvals.reverse());
        const add = (record) => {
          if (record.type === 'decision') setRecords((all) => (all.some((it) => it.seq === record.seq) ? all : [record, ...all].slice(0, MOST)));
          if (record.approval) update(record.approval);
        };
        await api.follow(first.records[0]?.seq ?? 0, add, setLive, stop.signal);
      } catch (error) {
        if (error.status === 401) signOut();
        else if (!stop.signal.aborted) setFailed(error.message);
      }
    })();
    return () => stop.abort();
  }, []);

  useEffect(() => {
    const onKey = (event) => {
      if (event.key === 'Escape') { setHelp(false); if (event.target.matches('input, textarea')) event.target.blur(); return; }
      if (event.target.matches('input, textarea, select') || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 't') {
        event.preventDefault();
        // At once where the box is there: what is typed next is meant for it.
        if (tryBox.current) tryBox.current.focus(); else { setView('decisions'); setTimeout(() => tryBox.current?.focus(), 0); }
      }
      if (event.key === '1') setView('approvals');
      if (event.key === '2') setView('decisions');
      if (event.key === '?') setHelp((shown) => !shown);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const waiting = approvals.filter((it) => it.standing === 'pending').length;
  return html`
    <header>
      <h1><img src="/icon.svg" alt="" width="24" height="24" /> Sayso</h1>
      <p class="enforcing">${status && html`<span title="policy ${status.policy_version}">${visible(status.enforcing)}</span>`}</p>
      <p class="live ${live ? 'on' : 'off'}" role="status"><span class="dot" aria-hidden="true"></span>${live ? 'live' : 'connecting'}</p>
      <button class="quiet" onClick=${() => setHelp(true)} aria-label="Keys">?</button>
    </header>
    <main>
      ${failed && html`<p class="wrong" role="alert">${failed}</p>`}
      ${status?.notices.map((notice) => html`<p class="notice">${visible(notice)}</p>`)}
      <nav class="tabs" aria-label="Views">
        <button aria-current=${view === 'approvals' ? 'page' : undefined} onClick=${() => setView('approvals')}>Approvals${waiting > 0 && html` <span class="badge">${waiting}</span>`}</button>
        <button aria-current=${view === 'decisions' ? 'page' : undefined} onClick=${() => setView('decisions')}>Activity</button>
      </nav>
      ${view === 'approvals' && html`<${Approvals} approvals=${approvals} act=${act} you=${status?.you} />`}
      ${view === 'decisions' && html`<${TryBox} input=${tryBox} folder=${status?.folder} /><${Decisions} records=${records} status=${status} />`}
    </main>
    <footer>${status && html`<span>sayso ${status.version}</span><span>record in ${status.record}</span>`}</footer>
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

function Help({ close }) {
  const button = useRef(null);
  useEffect(() => button.current?.focus(), []);
  const keys = [['t', 'try a command'], ['1  2', 'approvals, activity'], ['j  k', 'next, previous'], ['a  d', 'allow, deny the question in focus'], ['Enter', 'open or close a decision'], ['/', 'search'], ['Esc', 'leave a field'], ['?', 'this list']];
  return html`<div class="veil" onClick=${close}>
    <section role="dialog" aria-modal="true" aria-label="Keys" class="help" onClick=${(event) => event.stopPropagation()}>
      <h2>Keys</h2>
      <dl>${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
      <button ref=${button} onClick=${close}>Close</button>
    </section>
  </div>`;
}

const root = document.getElementById('app');
root.textContent = '';
render(html`<${App} />`, root);
