// A thousand questions at once: they are counted, found, and none moves or hides another.
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { accessible, another, asks, card, fits, noise, open, ready, shot, test, until } from './harness.mjs';

const POLICY = `extends = ["developer"]
[[rule]]
id = "first-to-end"
ask = { run = "make urgent" }
approver = "soon"
[approvals.soon]
members = ["${userInfo().username}"]
expires = "10m"
`;
const many = 1000;
const flood = (from, to) => Array.from({ length: to - from }, (_, n) => n + from)
  .map((n) => ({ command: 'git push origin flood-' + n, wait: 0, context: { agent: 'swarm-' + (n % 25), session: 'swarm-' + Math.floor(n / 20) } }));
const shown = (page) => page.locator('.cards > li').count();

test('with a thousand questions the page counts them, finds one, and nothing moves', async () => {
  const served = await another('flood', POLICY);
  const told = await asks(flood(0, many / 2), served.base);
  assert.ok(told.every((it) => it.approval), JSON.stringify(told.find((it) => !it.approval)));
  // The one that matters stands in the middle, and ends first.
  const waits = asks({ command: 'make urgent', wait: 60, context: { agent: 'careful', session: 'mine' } }, served.base);
  await until('it to be asked', async () => (await (await fetch(served.base + '/metrics')).text()).match(/pending"\} (\d+)/)?.[1] === String(many / 2 + 1));
  await asks(flood(many / 2, many), served.base);

  const page = await open(served.link);
  const of = (n) => page.locator(`.question[aria-label$="flood-${n}"]`);
  await page.getByText('1,001 pending').waitFor();
  await until('the first cards', async () => (await shown(page)) === 30);
  await of(29).waitFor();
  await ready(of(0));
  await fits(page, 'a flood');
  await accessible(page, 'a flood');
  await shot(page, 'flood');

  // More come while somebody looks: what is shown stays where it is.
  const place = () => page.locator('.cards > li').evaluateAll((all) => all.map((it) => [it.dataset.id, it.offsetTop]));
  const before = await place();
  await asks(flood(many, many + 40), served.base);
  await page.getByText('1,041 pending').waitFor();
  assert.deepEqual(await place(), before);
  assert.equal(await page.locator('.yes:enabled').count(), 30, 'what did not move can be answered');

  // The one that ends first is a press away, wherever it stands.
  await page.getByRole('button', { name: /Next expires in 9 min/ }).click();
  const urgent = card('make urgent', page);
  await ready(urgent);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), /careful: make urgent/);
  assert.deepEqual((await place()).slice(0, 30), before, 'it comes below the others');
  await page.keyboard.press('a');
  assert.equal((await waits).verdict, 'allow');
  await urgent.getByText('approved').waitFor();

  // By who asks, and by text.
  await page.locator('.find').getByLabel('agent').selectOption({ label: 'swarm-3 (42)' });
  await page.getByText('42 calls match').waitFor();
  await until('those of one agent', async () => (await shown(page)) === 30);
  await page.locator('.find').getByLabel('session').selectOption({ label: 'swarm-1 (1)' });
  await until('the one', async () => (await shown(page)) === 1);
  await page.getByRole('button', { name: 'Clear' }).click();
  await until('all of them', async () => (await shown(page)) === 30);
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('/');
  await page.waitForFunction(() => document.activeElement?.closest('.find'));
  await page.keyboard.type('flood-777');
  await until('the one with that text', async () => (await shown(page)) === 1);
  await of(777).waitFor();
  await shot(page, 'flood-found');
  await page.locator('.find').getByLabel('text').fill('no such question');
  await page.getByText('No pending call matches.').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();

  // The next ones come below, by key too.
  await until('the first again', async () => (await shown(page)) === 30);
  await page.locator('.cards > li').last().focus();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await until('more', async () => (await shown(page)) === 60);
  await until('the focus on the first of them', () => page.evaluate(() => /flood-30$/.test(document.activeElement.getAttribute('aria-label'))));

  // Where one is put away, those below move up: none of them takes an answer at once.
  const first = of(0);
  await ready(first);
  await first.focus();
  await page.keyboard.press('d');
  await first.getByText('denied').waitFor();
  const open_ = await page.evaluate(async () => {
    document.querySelector('.away').click();
    while (document.querySelectorAll('.cards > li').length && document.querySelector('.question.denied')) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return document.querySelectorAll('.cards > li:not(:last-child) .answers button:enabled').length;
  });
  assert.equal(open_, 0, 'buttons that moved take a press at once');
  await ready(of(1));
  await page.context().close();

  const again = await fetch(served.base + '/v1/session', { method: 'POST', body: '{}' });
  assert.equal(again.status, 415);
  assert.deepEqual(noise.splice(0), []);
  served.child.kill('SIGTERM');
});
