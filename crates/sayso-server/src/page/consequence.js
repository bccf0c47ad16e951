// What a call would mean, in a few words: the first thing on a card. It is read off what the analysis found, never off
// the command's text, and programs are not known here.
import { html } from '/vendor/preact-htm.js';
import { clock } from '/parts.js';
import { Line, Said } from '/text.js';

// Why an effect needs a yes of its own, the gravest first. `last` marks what nobody can take back.
const CODES = [
  ['wipes-everything', 'wipes a disk or a home folder', { last: true }],
  ['sayso-itself', 'changes Sayso itself', { target: true }],
  ['git-push', 'others will see this push', { last: true, to: true }],
  ['publishes', 'publishes where others see it', { last: true, to: true }],
  ['secrets-stay-here', 'may send secrets that this session has read', { last: true, to: true }],
  ['shows-secrets', 'shows secrets or the whole environment', {}],
  ['secret', 'reads secrets', { target: true }],
  ['secrets', 'reads secrets', { target: true }],
  ['loses-work', 'may throw away work', { last: true }],
  ['guarded-file', 'changes a file that later runs or steers something', { target: true }],
  ['changes-service', 'changes something at a service that others use', { last: true, to: true }],
  ['as-somebody-else', 'runs with other rights, or on another machine', {}],
  ['runs-elsewhere', 'runs something on another computer', { to: true }],
  ['changes-system', 'changes this machine', {}],
  ['installs', 'installs code from the network', { unseen: true }],
  ['own-build', 'runs code that this session wrote', { unseen: true }],
  ['serves', 'starts a server', {}],
  ['signals', 'stops or signals processes', {}],
  ['inline-code', 'runs code that Sayso cannot see into', { unseen: true }],
  ['runs-code', 'runs code that Sayso cannot see into', { unseen: true }],
  ['code', 'runs code that Sayso cannot see into', { unseen: true }],
  ['opaque', 'does something that Sayso cannot see into', { unseen: true }],
  ['runs-command', 'starts another program', { unseen: true }],
  ['changes-repository', 'changes the repository: its history, branches or settings', {}],
  ['changes-settings', 'changes settings', {}],
];
const THROWS_AWAY = ['wipes-everything', 'loses-work'];
// What is left to say where no code says more.
const VERBS = { delete: 'deletes', write: 'writes', connect: 'contacts', read: 'reads', call: 'uses the tool', run: 'runs' };
const PLACES = { registry: 'the package registry', forge: 'the forge' };

const asks = (approval) => approval.effects.filter((it) => it.verdict !== 'allow');
const codesOf = (effect) => (effect.opinions ?? []).filter((it) => it.verdict !== 'allow').map((it) => it.code);

// Where a connection leads, as people know the place.
function place(target, remotes) {
  const label = /^host of (.+)$/.exec(target)?.[1];
  if (!label) return { text: target };
  const remote = remotes.find((it) => it.name === label);
  return remote ? { text: remote.place, called: label } : { text: PLACES[label] ?? label };
}

// What a call would mean: the gravest first, each once.
export function meanings(approval) {
  const remotes = approval.context?.remotes ?? [];
  const effects = asks(approval);
  const said = new Set([approval.reasons?.[0]?.code, ...effects.flatMap(codesOf)]);
  const to = effects.filter((it) => it.verb === 'connect').map((it) => place(it.target, remotes));
  const found = [];
  for (const [code, words, { target, to: leads, last, unseen }] of CODES) {
    if (!said.has(code) || found.some((it) => it.words === words)) continue;
    const about = target ? effects.filter((it) => codesOf(it).includes(code)).map((it) => ({ text: it.target })) : leads ? to : [];
    const fresh = about.filter((it) => !found.some((other) => other.about.some((known) => known.text === it.text)));
    found.push({ words, about: fresh.slice(0, 2), to: Boolean(leads), last, unseen });
  }
  const rest = Object.entries(VERBS).map(([verb, words]) => {
    const of = effects.filter((it) => it.verb === verb);
    if (of.length === 0 || (verb === 'connect' && found.some((it) => it.to)) || (verb === 'run' && (found.length > 0 || effects.some((it) => it.verb !== 'run')))) return null;
    const about = (verb === 'connect' ? to : of.map((it) => ({ text: verb === 'run' ? it.target.split('/').pop() : it.target })));
    const told = about.filter((it) => !found.some((other) => other.about.some((known) => known.text === it.text)));
    return told.length ? { words, about: told.slice(0, 2), more: told.length - 2, last: verb === 'delete' } : null;
  }).filter(Boolean);
  return [...found, ...rest];
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function Meaning({ it, first }) {
  const words = first ? capital(it.words) : it.words;
  return html`${words}${it.about.length > 0 && html`${it.to ? ' to' : ''} ${it.about.map((about, index) => html`${index > 0 && ' and '}<${Said} text=${about.text} most=${90} />`)}`}${it.more > 0 && ` and ${it.more} more`}`;
}

// The headline of a card.
export function Consequence({ approval }) {
  const steps = approval.plan?.steps?.length;
  if (steps) return html`<p class="consequence">Carries out a plan of ${steps} ${steps === 1 ? 'step' : 'steps'}</p>`;
  const all = meanings(approval);
  if (all.length === 0) return html`<p class="consequence">Uses the tool <${Said} text=${approval.tool} /></p>`;
  return html`<div class="consequence"><p><${Meaning} it=${all[0]} first=${true} /></p>
    ${all.length > 1 && html`<p class="also">It also ${all.slice(1, 3).map((it, index) => html`${index > 0 && ', and '}<${Meaning} it=${it} />`)}${all.length > 3 ? ' …' : ''}</p>`}</div>`;
}

// What is worth knowing before the answer, in a word or two each; the grave ones stand out.
export function Facts({ approval, status }) {
  const facts = [];
  const all = meanings(approval);
  const { before, facts: done } = approval.context ?? {};
  const risk = approval.risk?.word ?? approval.risk?.level;
  if (typeof risk === 'string') facts.push([risk + ' risk', /high|severe|critical/.test(risk) ? 'grave' : '', 'how risky such effects are, by Sayso’s model']);
  if (all.some((it) => it.last)) facts.push(['cannot be undone', 'grave']);
  const secret = done?.find((it) => it.what.includes('@secrets'));
  if (secret) facts.push([secret.maybe ? 'may come after reading secrets' : 'after reading secrets', 'grave', clock(secret.time_ms) + ': ' + secret.command]);
  const agent = status?.hold?.agents?.find((it) => approval.way_in.includes(it.agent));
  if (all.some((it) => it.unseen) && !approval.held && !agent?.held) facts.push(['not held', '', 'the kernel does not bound this run']);
  if (before && !before.more && before.allowed + before.refused === 0) facts.push(['first time here', '', 'no earlier call of ' + before.like + ' in this workspace']);
  if (before?.refused > 0) facts.push(['refused ' + before.refused + (before.more ? '+' : '') + (before.refused === 1 ? ' time' : ' times') + ' before', 'grave', before.like + ' in this workspace']);
  // That something was deleted before says nothing good about deleting it again.
  const deletes = approval.more_effects > 0 || approval.effects.some((it) => it.verb === 'delete' || codesOf(it).some((code) => THROWS_AWAY.includes(code))) || THROWS_AWAY.includes(approval.reasons?.[0]?.code);
  if (before?.allowed > 0 && !deletes) facts.push(['ran ' + before.allowed + (before.more ? '+' : '') + (before.allowed === 1 ? ' time' : ' times') + ' here', 'known', before.like + ' in this workspace']);
  if (facts.length === 0) return null;
  return html`<ul class="matters" aria-label="What matters">${facts.map(([text, kind, title]) => html`<li class=${kind}><span>${text}</span>${title && html`<span class="why-so"> <${Line} text=${title} most=${120} /></span>`}</li>`)}</ul>`;
}
