// The page: who is signed in, what is shown, and the keys.
import { html, render, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import * as api from '/api.js';
import { Approvals } from '/approvals.js';
import { Activity } from '/activity.js';
import { Grants } from '/grants.js';
import { isTyping } from '/keys.js';
import { Limits } from '/limits.js';
import { Halt, ModeBanner } from '/mode.js';
import { useLive } from '/live.js';
import { number } from '/parts.js';
import { Policy } from '/policy.js';
import { Sessions } from '/sessions.js';
import { Team } from '/team.js';
import { TryBox } from '/try.js';
import { plain, visible } from '/text.js';

// The views, in the order of their keys.
const VIEWS = [['approvals', 'Approvals'], ['activity', 'Activity'], ['policy', 'Policy'], ['grants', 'Grants'], ['limits', 'Limits'], ['sessions', 'Sessions'], ['team', 'Team']];

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
  const signOut = () => { api.signOut(); setSigned('out'); };
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
    <p>Open the link that <code>sayso serve</code> printed in the terminal, or enter its key here. A key works once; when
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

// What this machine can hold, and which agents run held.
function holdWords({ level, agents }) {
  if (level === 'none') return 'cannot hold runs';
  const held = agents.filter((it) => it.held);
  const can = level === 'whole' ? 'holds runs whole' : 'holds files only';
  if (agents.length === 0) return can;
  return can + ', ' + (held.length === 0 ? 'no agent runs held' : held.map((it) => plain(it.agent, 40)).join(', ') + (held.length === 1 ? ' runs held' : ' run held'));
}

const holdTitle = ({ agents }) => agents.filter((it) => !it.held).map((it) => plain(it.agent, 40) + ': ' + plain(it.why ?? 'not held', 300)).join('\n');

// Which view the address names.
function useView() {
  const named = () => VIEWS.map(([name]) => name).find((name) => location.hash.split('?')[0] === '#/' + name) ?? 'approvals';
  const [view, setView] = useState(named());
  useEffect(() => {
    const onChange = () => setView(named());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return [view, (name) => { location.hash = '#/' + name; setView(name); }];
}

function Home({ signOut }) {
  const { approvals, more, status, live, failed, on, act, look } = useLive(signOut);
  const [view, setView] = useView();
  const [help, setHelp] = useState(false);
  const tryBox = useRef(null);
  const wantsTry = useRef(false);
  const waiting = (approvals ?? []).filter((it) => it.standing === 'pending').length;

  useEffect(() => {
    document.title = (waiting ? `(${waiting}) ` : '') + 'Sayso';
  }, [waiting]);

  useEffect(() => {
    const onKey = (event) => {
      if (event.key === 'Escape') { if (event.target.matches('input, textarea')) event.target.blur(); return; }
      if (document.querySelector('dialog[open]')) return;
      if (isTyping(event)) return;
      if (event.key === 't') {
        event.preventDefault();
        // At once: what is typed next is meant for the box.
        if (tryBox.current) tryBox.current.focus(); else { wantsTry.current = true; setView('policy'); }
      }
      const chosen = VIEWS[Number(event.key) - 1];
      if (chosen) setView(chosen[0]);
      if (event.key === '?') setHelp(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return html`
    <header>
      <h1><img src="/icon.svg" alt="" width="24" height="24" /> Sayso</h1>
      <p class="enforcing">${status && html`<span title="policy ${status.policy_version}">${visible(status.enforcing)}</span>`}${status?.hold && html` <span class="holds" title=${holdTitle(status.hold)}>· ${holdWords(status.hold)}</span>`}</p>
      <p class="live ${live ? 'on' : 'off'}" role="status"><span class="dot" aria-hidden="true"></span>${live ? 'live' : 'connecting'}</p>
      <${Halt} mode=${status?.mode} changed=${look} />
      <button class="quiet" onClick=${() => setHelp(true)} aria-label="Keys">?</button>
      <button class="quiet sign-out" onClick=${signOut}>Sign out</button>
    </header>
    <${ModeBanner} mode=${status?.mode} role=${status?.role} changed=${look} />
    <main>
      <nav class="tabs" aria-label="Views">${VIEWS.map(([name, title], index) => html`
        <a href=${'#/' + name} aria-current=${view === name ? 'page' : undefined} title=${'Key ' + (index + 1)}>${title}${name === 'approvals' && waiting > 0 && html` <span class="badge">${number(waiting)}</span>`}${name === 'policy' && status?.notices.length > 0 && html` <span class="badge" title=${plain(status.notices[0], 300)}>${status.notices.length}<span class="hidden"> notices</span></span>`}</a>`)}
      </nav>
      ${view === 'approvals' && html`<${Approvals} approvals=${approvals} more=${more} act=${act} status=${status} />`}
      ${view === 'activity' && html`<${Activity} on=${on} status=${status} />`}
      ${view === 'policy' && html`<${TryBox} input=${tryBox} wanted=${wantsTry} folder=${status?.folder} /><${Policy} on=${on} status=${status} />`}
      ${view === 'grants' && html`<${Grants} on=${on} />`}
      ${view === 'limits' && html`<${Limits} on=${on} />`}
      ${view === 'sessions' && html`<${Sessions} on=${on} status=${status} />`}
      ${view === 'team' && html`<${Team} on=${on} status=${status} />`}
    </main>
    <footer>${status && html`<span>sayso ${status.version}</span><span>record in ${status.record}</span>`}</footer>
    ${failed && html`<p class="wrong toast" role="alert">${visible(failed)}</p>`}
    ${help && html`<${Help} close=${() => setHelp(false)} />`}`;
}

// A dialog of the browser's own: it keeps the focus inside and gives it back.
function Help({ close }) {
  const dialog = useRef(null);
  useEffect(() => dialog.current?.showModal(), []);
  const keys = [['1 - ' + VIEWS.length, VIEWS.map(([, title]) => title.toLowerCase()).join(', ')], ['j  k', 'next, previous'], ['a  d', 'allow once, deny the focused call'], ['Enter', 'open or close'], ['t', 'try a command'], ['/', 'search'], ['Esc', 'leave a field'], ['?', 'this list']];
  return html`<dialog ref=${dialog} class="help" aria-label="Keys" onClose=${close} onClick=${(event) => { if (event.target === dialog.current) dialog.current.close(); }}>
    <div class="inside"><h2>Keys</h2>
      <dl>${keys.map(([key, what]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${what}</dd></div>`)}</dl>
      <button onClick=${() => dialog.current.close()}>Close</button></div>
  </dialog>`;
}

const root = document.getElementById('app');
root.textContent = '';
render(html`<${App} />`, root);
