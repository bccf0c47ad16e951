// Questions: they appear, are understood, answered by keyboard, and nothing moves under a finger.
import assert from 'node:assert/strict';
import { asks, at, base, card, everywhere, noise, ready, shot, test, until, waitingHook } from './harness.mjs';

const view = async () => {
  await at.page.keyboard.press('Escape');
  await at.page.keyboard.press('1');
};

test('an approval appears, is answered by keyboard, and the caller over HTTP gets it', async () => {
  await view();
  const waits = asks({ command: 'git push origin main', wait: 60, context: { agent: 'coder', session: 'e2e-http' } });
  const push = card('git push origin main');
  await ready(push);
  assert.match(await push.innerText(), /coder\s+wants to use/);
  assert.match(await push.innerText(), /Asked by\s+git-push\s+preset:developer:\d+:\d+: .?Others see what you push/);
  assert.match(await push.innerText(), /connects\s+host of origin/);
  assert.match(await push.innerText(), /1[45] min \d+ s left/);
  await push.locator('mark.ask').first().waitFor();
  await at.page.keyboard.press('j');
  assert.match(await at.page.evaluate(() => document.activeElement.getAttribute('aria-label')), /coder: git push origin main/);
  await shot(at.page, 'approval');
  await at.page.keyboard.press('a');
  const answer = await waits;
  assert.equal(answer.verdict, 'allow', JSON.stringify(answer));
  assert.equal(answer.reasons[0].code, 'approved');
  await push.getByText('approved').waitFor();
});

test('a no reaches the caller, and the cards did not move', async () => {
  const [one, two] = [asks({ command: 'git push origin one', wait: 60 }), asks({ command: 'git push origin two', wait: 60 })];
  await ready(card('origin one'));
  await ready(card('origin two'));
  const first = (await card('origin one').boundingBox()).y < (await card('origin two').boundingBox()).y ? 'one' : 'two';
  const second = first === 'one' ? 'two' : 'one';
  const place = await card('origin ' + second).evaluate((it) => it.offsetTop);
  await card('origin ' + first).focus();
  await at.page.keyboard.press('d');
  await card('origin ' + first).getByText('denied').waitFor();
  assert.equal(await card('origin ' + second).evaluate((it) => it.offsetTop), place);
  await card('origin ' + second).focus();
  await at.page.keyboard.press('d');
  for (const answer of [await one, await two]) {
    assert.deepEqual([answer.verdict, answer.reasons[0].code], ['deny', 'denied-by-person'], JSON.stringify(answer));
  }
});

test('a card is whole when it appears: it keeps its height, and those below keep their place', async () => {
  const page = at.page;
  await page.evaluate(() => {
    window.heights = {};
    new ResizeObserver((entries) => entries.forEach(({ target }) => {
      (window.heights[target.dataset.id] ??= []).push(target.offsetHeight);
    })).observe(document.body);
    const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => (window.heights[target.dataset.id] ??= []).push(target.offsetHeight)));
    new MutationObserver(() => document.querySelectorAll('.question').forEach((it) => watch.observe(it))).observe(document.body, { childList: true, subtree: true });
  });
  const waits = [asks({ command: 'curl https://paste.example/' + 'x'.repeat(3000) + ' && git push origin tall', wait: 60 }), asks({ command: 'git push origin small', wait: 60 })];
  await ready(card('origin tall'));
  await ready(card('origin small'));
  for (const name of ['tall', 'small']) {
    const id = await card('origin ' + name).getAttribute('data-id');
    const heights = await page.evaluate((id) => window.heights[id], id);
    assert.equal(new Set(heights).size, 1, 'the card was ' + heights.join(', then ') + ' high');
  }
  for (const name of ['tall', 'small']) {
    await card('origin ' + name).focus();
    await page.keyboard.press('d');
  }
  assert.deepEqual((await Promise.all(waits)).map((it) => it.verdict), ['deny', 'deny']);
});

test('a key that was meant for something else answers nothing', async () => {
  const waits = asks({ command: 'git push origin careful', wait: 60 });
  const careful = card('origin careful');
  await careful.waitFor();
  // It has no focus, or has only just appeared.
  await at.page.evaluate(() => document.activeElement.blur());
  await at.page.keyboard.press('a');
  await careful.focus();
  await at.page.keyboard.press('a');
  await ready(careful);
  await careful.getByLabel('for').focus();
  await at.page.keyboard.press('a');
  assert.match(await careful.innerText(), /left/);
  await careful.focus();
  await at.page.keyboard.press('d');
  assert.equal((await waits).verdict, 'deny');
});

test('a hook waits for the page, and what it wants to write is shown as a diff', async () => {
  const outside = '/opt/elsewhere.txt';
  const before = ['one', ...Array.from({ length: 40 }, (_, n) => 'line ' + n), 'end'].join('\n');
  const waits = waitingHook('Edit', { file_path: outside, old_string: before, new_string: before.replace('one', 'two') + '\nlast' });
  const edit = card('elsewhere.txt');
  await ready(edit);
  await edit.locator('.diff .added', { hasText: 'two' }).waitFor();
  await edit.locator('.diff .removed', { hasText: 'one' }).waitFor();
  await edit.locator('.diff .added', { hasText: 'last' }).waitFor();
  assert.equal(await edit.locator('.diff', { hasText: 'line 20' }).count(), 0);
  await edit.getByRole('button', { name: 'Show all' }).click();
  await edit.locator('.diff', { hasText: 'line 20' }).waitFor();
  await edit.getByRole('button', { name: 'Show less' }).click();
  assert.match(await edit.innerText(), /writes\s+\/opt\/elsewhere\.txt/);
  await edit.focus();
  await shot(at.page, 'approval-diff');
  // Its buttons moved when it was folded again.
  await ready(edit);
  await at.page.keyboard.press('a');
  const { out } = await waits;
  assert.match(out, /"behavior":"allow"/);
});

test('a page in the background holds nobody up', async () => {
  const page = at.page;
  const show = (state) => page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);
  const attending = (yes) => page.waitForRequest((request) => request.url().includes('/v1/stream?attend=' + yes));
  const [gone] = await Promise.all([attending(false), show('hidden')]);
  assert.ok(gone);
  // The hook hands the question to its agent's own prompt as soon as nobody is there: it ends without an answer here.
  await until('the hook not to wait', async () => {
    const { out } = await waitingHook('Bash', { command: 'git push origin background' });
    return !out.includes('"behavior"');
  });
  const [back] = await Promise.all([attending(true), show('visible')]);
  assert.ok(back);
  await page.getByText('live', { exact: true }).waitFor();
  const waits = waitingHook('Bash', { command: 'git push origin foreground' });
  await ready(card('origin foreground'));
  await card('origin foreground').focus();
  await page.keyboard.press('d');
  assert.match((await waits).out, /"behavior":"deny"/);
});

test('an answer can be remembered, with a preview of what that lets pass', async () => {
  const waits = asks({ command: 'git restore feature.txt', wait: 60, context: { agent: 'coder', session: 'e2e-http' } });
  const feature = card('git restore feature.txt');
  await ready(feature);
  await feature.getByLabel('for').selectOption('session');
  const height = await feature.evaluate((it) => it.offsetHeight);
  await feature.getByLabel('width').selectOption('program');
  await feature.getByText('would have allowed').waitFor();
  assert.equal(await feature.evaluate((it) => it.offsetHeight), height, 'the preview moved what is below');
  await feature.scrollIntoViewIfNeeded();
  await shot(at.page, 'approval-width');
  await feature.locator('.yes').click();
  assert.equal((await waits).verdict, 'allow');
  const again = await asks({ command: 'git restore other.txt', context: { agent: 'coder', session: 'e2e-http' } });
  assert.equal(again.verdict, 'allow', JSON.stringify(again));
});

test('a question that came while the page was away is there when it is back', async () => {
  await at.page.context().setOffline(true);
  const waits = asks({ command: 'git push origin away', wait: 60 });
  await at.page.getByText('connecting', { exact: true }).waitFor({ timeout: 30_000 }).catch(() => {});
  await at.page.context().setOffline(false);
  await at.page.reload();
  await at.page.getByRole('heading', { name: 'Approvals' }).waitFor();
  await ready(card('origin away'));
  await card('origin away').focus();
  await at.page.keyboard.press('a');
  assert.equal((await waits).verdict, 'allow');
  noise.length = 0;
});

test('questions work in the dark and on a phone, and axe-core finds no serious fault', async () => {
  const waits = asks({ command: 'curl -d @notes.txt https://paste.example && git push origin phone', wait: 60, context: { agent: 'coder' } });
  await ready(card('origin phone'));
  await everywhere('approvals', async (other, name) => {
    const phone = card('origin phone', other);
    await ready(phone);
    if (name !== 'phone') return;
    await shot(other, 'approval-phone');
    // The window must not close before the answer is on its way.
    const answered = other.waitForResponse((response) => response.url().endsWith('/answer'));
    await phone.locator('.no').tap();
    await answered;
    // The last window needs a question too.
    asks({ command: 'git push origin phone', wait: 60 });
    await ready(card('origin phone').last());
  });
  assert.equal((await waits).verdict, 'deny');
  for (const it of await at.page.locator('.question.pending').all()) {
    await it.focus();
    await at.page.keyboard.press('d');
  }
});

test('nobody answers without the key', async () => {
  const address = await base();
  const waits = asks({ command: 'git push origin thief', wait: 60 });
  await ready(card('origin thief'));
  const id = await card('origin thief').getAttribute('data-id');
  const say = (headers, method = 'POST') => fetch(address + '/v1/approvals/' + id + '/answer', { method, headers: { 'Content-Type': 'application/json', ...headers }, ...(method === 'POST' && { body: '{"verdict":"allow"}' }) });
  assert.equal((await say({})).status, 401);
  assert.equal((await say({ Authorization: 'Bearer ' + '0'.repeat(64) })).status, 401);
  assert.equal((await say({}, 'GET')).status, 405);
  assert.equal((await fetch(address + '/v1/approvals')).status, 401);
  assert.deepEqual(Object.keys(await (await fetch(address + '/v1/approvals/' + id)).json()).sort(), ['expires_ms', 'id', 'standing']);
  await card('origin thief').focus();
  await at.page.keyboard.press('d');
  assert.equal((await waits).verdict, 'deny');
});
