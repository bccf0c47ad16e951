// Nobody sees anything without the key, and the key works once.
import assert from 'node:assert/strict';
import { at, link, links, noise, open, shot, test, until } from './harness.mjs';

test('without a key the page asks for one and shows nothing', async () => {
  const out = await open((await link()).replace(/#.*/, ''));
  await out.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal(await out.locator('.list').count(), 0);
  await out.getByLabel('Key').fill('WRNG-0000');
  noise.length = 0;
  await out.getByRole('button', { name: 'Sign in' }).click();
  await out.getByRole('alert').waitFor();
  // The browser itself reports the refusal; nothing else may be there.
  assert.deepEqual(noise.filter((it) => !it.includes('403')), []);
  noise.length = 0;
  await shot(out, 'sign-in');
  await out.context().close();
});

test('the key signs in, leaves the address, and works once', async () => {
  const used = await link();
  at.page = await open(used);
  await at.page.getByRole('heading', { name: 'Approvals' }).waitFor();
  assert.equal(new URL(at.page.url()).hash, '');
  await at.page.getByText('live', { exact: true }).waitFor();
  await until('the next key', () => links().length > 1);
  assert.notEqual(links().at(-1), used);
  const again = await fetch(used.replace(/\/#.*/, '/v1/session'), { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ key: used.split('k=')[1] }) });
  assert.equal(again.status, 403);
});

const go = async (key, heading) => {
  await at.page.keyboard.press(key);
  await at.page.getByRole('heading', { name: heading }).first().waitFor();
};

test('views that have nothing to show say the next step', async () => {
  await at.page.getByText('Nothing is pending.').waitFor();
  await go('2', 'Activity');
  await at.page.getByText('No decisions yet.').waitFor();
  await at.page.getByText('sayso install claude-code').waitFor();
  await shot(at.page, 'empty');
  await go('4', 'Remembered answers');
  await at.page.getByText('No saved answers.').waitFor();
  await go('5', 'Limits');
  await at.page.getByText('The policy sets no limits.').waitFor();
  await at.page.getByText('[limits.session]').waitFor();
  await go('6', 'Sessions');
  await at.page.getByText('No sessions yet.').waitFor();
  await at.page.getByRole('button', { name: 'runs' }).click();
  await at.page.getByText('No runs yet.').waitFor();
  await at.page.getByRole('button', { name: 'sessions' }).click();
});
