// A real server with its own home, a real browser, and what the tests of every view need.
//
// SAYSO is the binary, SAYSO_TEST_CACHE says where npm packages are, CHROMIUM is the browser. With SAYSO_SHOTS set to a
// folder screenshots are kept there. With SAYSO_PAGE set to the page's folder its files are taken from there and not
// from the binary, so that the page can be worked on without building.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(join(process.env.SAYSO_TEST_CACHE, 'x.js'));
const { chromium } = require('playwright-core');
const AXE = readFileSync(require.resolve('axe-core'), 'utf8');
const { SAYSO, SAYSO_SHOTS: SHOTS, SAYSO_PAGE: PAGE } = process.env;

// HTML, ANSI, bidirectional and invisible characters, marks that pile up, and 100 kB.
export const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> \u001b[2K\u202Egnp.exe\u202C \u200b Z' + '\u0335\u030d'.repeat(40) + ' && rm -rf / #' + 'A'.repeat(100_000);
export const HOSTILE_NAME = '<b>\u202Eowner</b>\u001b[31m"Approved"\u200b';

const folder = mkdtempSync(join(tmpdir(), 'sayso-e2e-'));
export const home = join(folder, 'home');
export const project = join(folder, 'project');
mkdirSync(join(home, '.config/sayso'), { recursive: true, mode: 0o700 });
mkdirSync(project);
writeFileSync(join(project, '.env'), 'TOKEN=1\n');
writeFileSync(join(project, 'README.md'), '# Project\n');

export const noise = [];
export const at = { page: null, browser: null, server: null };

// The server writes its key to a screen or a pipe, and not where it would be kept. What node calls a pipe is a socket, as
// that of a system's journal is: so it gets a real one.
function serve(home, more = []) {
  const screen = home + '.screen';
  spawnSync('mkfifo', [screen]);
  const read = openSync(screen, constants.O_RDONLY | constants.O_NONBLOCK);
  const written = openSync(screen, 'w');
  const served = { home, printed: '' };
  new Socket({ fd: read, readable: true }).on('data', (data) => { served.printed += data; });
  served.child = spawn(SAYSO, ['serve', '--port', '0', '--home', home, ...more], { cwd: project, env: { ...process.env, HOME: home, NO_COLOR: '1' }, stdio: ['ignore', written, written] });
  servers.push(served);
  return served;
}
const servers = [];

export function startServer() {
  at.served = serve(home);
  at.server = at.served.child;
}

// Another server with a home and a policy of its own.
export async function another(name, policy, more) {
  const home = join(folder, name);
  mkdirSync(join(home, '.config/sayso'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, '.config/sayso/policy.toml'), policy);
  const served = serve(home, more);
  served.link = await until('a link', () => linksOf(served).at(-1));
  served.base = served.link.replace(/\/#.*/, '');
  return served;
}

export async function until(what, test, patience = 15_000) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await test();
    if (value) return value;
    if (Date.now() > end) throw new Error('waited in vain for ' + what + '\n' + at.served?.printed);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const linksOf = ({ printed }) => [...printed.matchAll(/http:\/\/127\.0\.0\.1:\d+\/#k=[0-9A-Z-]+/g)].map((it) => it[0]);
export const links = () => linksOf(at.served);
export const link = () => until('a link', () => links().at(-1));
export const base = async () => (await link()).replace(/\/#.*/, '');

export const policyFile = join(home, '.config/sayso/policy.toml');

// What Claude Code sends before a tool call.
export function hook(tool, input, session = 'e2e') {
  const event = { hook_event_name: 'PreToolUse', session_id: session, cwd: project, permission_mode: 'default', tool_name: tool, tool_input: input, tool_use_id: 'toolu_1' };
  const done = spawnSync(SAYSO, ['hook', 'claude-code', '--home', home], { input: JSON.stringify(event), cwd: project, env: { ...process.env, HOME: home } });
  return { status: done.status, stdout: done.stdout.toString(), stderr: done.stderr.toString() };
}

// A hook that waits for people, as Claude Code starts it where it would ask at its own prompt.
export function waitingHook(tool, input) {
  const event = { hook_event_name: 'PermissionRequest', session_id: 'e2e', cwd: project, permission_mode: 'default', tool_name: tool, tool_input: input };
  const child = spawn(SAYSO, ['hook', 'claude-code', '--home', home, '--wait', '60'], { cwd: project, env: { ...process.env, HOME: home } });
  child.stdin.end(JSON.stringify(event));
  let out = '';
  child.stdout.on('data', (data) => { out += data; });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, out })));
}

// A caller over HTTP.
export async function asks(body, at) {
  const answer = await fetch((at ?? await base()) + '/v1/decisions', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(Array.isArray(body) ? body.map((it) => ({ cwd: project, ...it })) : { cwd: project, ...body }) });
  return answer.json();
}

async function fromDisk(context) {
  if (!PAGE) return;
  const headers = Object.fromEntries((await fetch((await base()) + '/')).headers);
  const kinds = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', html: 'text/html' };
  await context.route((url) => !url.pathname.startsWith('/v1/') && !url.pathname.startsWith('/chat'), (route) => {
    const path = new URL(route.request().url()).pathname;
    const file = path === '/' ? 'index.html' : path === '/answer' ? '../answer/answer.html' : path === '/answer.js' ? '../answer/answer.js' : path.slice(1);
    delete headers['content-length'];
    return route.fulfill({ headers: { ...headers, 'content-type': kinds[file.split('.').at(-1)] }, body: readFileSync(join(PAGE, file)) });
  });
}

// A new window; `signedIn` takes over what the first page was given for its key.
export async function open(address, { signedIn = false, ...options } = {}) {
  const context = await at.browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  await fromDisk(context);
  if (signedIn) {
    const state = await at.page.evaluate(() => ({ ...sessionStorage }));
    await context.addInitScript((items) => { for (const [key, value] of Object.entries(items)) sessionStorage.setItem(key, value); }, state);
  }
  const opened = await context.newPage();
  opened.on('console', (message) => { if (['error', 'warning'].includes(message.type())) noise.push(message.text() + ' ' + message.location().url.slice(0, 200)); });
  opened.on('pageerror', (error) => noise.push(String(error)));
  opened.on('dialog', (dialog) => { noise.push('a dialog: ' + dialog.message()); dialog.dismiss(); });
  await opened.goto(address);
  return opened;
}

export async function shot(of, name) {
  if (!SHOTS) return;
  mkdirSync(SHOTS, { recursive: true });
  await of.screenshot({ path: join(SHOTS, name + '.png'), fullPage: false });
}

export const card = (text, page = at.page) => page.locator('.question', { hasText: text });
export const ready = (of) => of.locator('.yes:enabled').waitFor();

export async function fits(page, name = 'the page') {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, name + ' is wider than the window by ' + wide);
}

export async function accessible(page, name) {
  await page.evaluate(() => Promise.all(document.getAnimations().map((it) => it.finished)));
  // The page's own policy forbids foreign scripts; the test brings axe in through the debugger.
  const found = await page.evaluate(AXE + '; axe.run(document, { resultTypes: ["violations"] })');
  const serious = found.violations.filter((it) => ['serious', 'critical'].includes(it.impact));
  assert.deepEqual(serious.map((it) => name + ' ' + it.id + ': ' + it.nodes.map((node) => node.html).join(' ').slice(0, 300)), []);
}

// Nothing of what an agent wrote became part of the page, and nothing that could hide is left in it.
export async function harmless(page) {
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.evaluate(() => document.querySelectorAll('#app img:not([src="/icon.svg"]), #app script, #app b').length), 0);
  const text = await page.evaluate(() => document.body.innerText + [...document.querySelectorAll('[aria-label], [title]')].map((it) => (it.ariaLabel ?? '') + it.title).join());
  assert.ok(!/[\u0000-\u0008\u000b-\u001f\u200b\u202a-\u202e\u0335]/.test(text), 'a control character is on the page');
  return text;
}

// A view in the dark, on a phone, and for those who do not see it.
export async function everywhere(view, prepare = async () => {}) {
  for (const [name, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['phone', { viewport: { width: 360, height: 780 }, isMobile: true, hasTouch: true }], ['phone-dark', { viewport: { width: 360, height: 780 }, isMobile: true, colorScheme: 'dark' }]]) {
    const other = await open((await base()) + '/#/' + view, { signedIn: true, ...options });
    await other.getByText('live', { exact: true }).waitFor();
    await prepare(other, name);
    await fits(other, view + ' ' + name);
    await accessible(other, view + ' ' + name);
    await shot(other, view + '-' + name);
    await other.context().close();
  }
}

const cases = [];
export const test = (name, run) => cases.push([name, run]);

export async function runAll() {
  const wanted = process.env.SAYSO_ONLY;
  let [passed, failed] = [0, 0];
  try {
    startServer();
    at.browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
    for (const [name, run] of cases) {
      if (wanted && !name.includes('the key signs in') && !new RegExp(wanted).test(name)) continue;
      try {
        await run();
        passed += 1;
        console.log('ok      ' + name);
      } catch (error) {
        failed += 1;
        console.log('FAILED  ' + name + '\n' + String(error.stack ?? error).replace(/^/gm, '        '));
        if (at.page && SHOTS) await shot(at.page, 'failed-' + failed).catch(() => {});
      }
    }
  } finally {
    await at.browser?.close();
    servers.forEach(({ child }) => child.kill('SIGKILL'));
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
  console.log(passed + ' passed, ' + failed + ' failed');
  process.exit(failed ? 1 : 0);
}
