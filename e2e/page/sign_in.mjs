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
