// Telling whoever looks elsewhere that a call waits: by the browser's own notifications and a short sound. Both are the
// reader's choice, for as long as the page is open.
import { html, useEffect, useRef, useState } from '/vendor/preact-htm.js';
import { plain } from '/text.js';

const can = typeof Notification === 'function' && window.isSecureContext;

function beep(sound) {
  const { currentTime } = sound;
  const [tone, volume] = [sound.createOscillator(), sound.createGain()];
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, currentTime + 0.35);
  tone.connect(volume).connect(sound.destination);
  tone.start(currentTime);
  tone.stop(currentTime + 0.36);
}

export function Notify({ waiting }) {
  const [notifies, setNotifies] = useState(can && Notification.permission === 'granted');
  const [sound, setSound] = useState(null);
  const known = useRef(null);
  useEffect(() => {
    const fresh = known.current ? waiting.filter((it) => !known.current.has(it.id)) : [];
    known.current = new Set(waiting.map((it) => it.id));
    if (fresh.length === 0) return;
    if (sound) beep(sound);
    if (notifies && document.visibilityState === 'hidden') {
      const [it] = fresh;
      const about = plain(it.command ?? it.tool, 100);
      const note = new Notification(fresh.length === 1 ? plain(it.actor.agent ?? it.way_in, 40) + ' waits for you' : fresh.length + ' calls wait for you', { body: about, tag: 'sayso' });
      note.onclick = () => { window.focus(); note.close(); };
    }
  }, [waiting.map((it) => it.id).join()]);
  const ask = async () => setNotifies(!notifies && (await Notification.requestPermission()) === 'granted');
  const hear = () => {
    if (sound) { sound.close(); setSound(null); return; }
    const started = new AudioContext();
    beep(started);
    setSound(started);
  };
  return html`<span class="notify" role="group" aria-label="When a call comes">
    ${can && html`<button class="chip" aria-pressed=${notifies} disabled=${Notification.permission === 'denied'} title=${Notification.permission === 'denied' ? 'Your browser blocks notifications from this page' : undefined} onClick=${ask}>notify</button>`}
    ${typeof AudioContext === 'function' && html`<button class="chip" aria-pressed=${Boolean(sound)} onClick=${hear}>sound</button>`}</span>`;
}
