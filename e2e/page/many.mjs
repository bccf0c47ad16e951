// Ten thousand records: the page shows some at a time, finds the rest, and stays usable.
import assert from 'node:assert/strict';
import { at, base, project, shot, test, until } from './harness.mjs';

const rows = () => at.page.locator('.decisions > li');

test('ten thousand records are paged, found and counted', async () => {
  const address = (await base()) + '/v1/decisions';
  let next = 0;
  const decide = async () => {
    for (let n = next++; n < 10_000; n = next++) {
      const call = { command: (n % 7 === 0 ? 'git push origin crowd' : 'git show crowd') + n, cwd: project, context: { agent: 'crowd-' + (n % 40), session: 'crowd-' + (n % 200) } };
      const answer = await fetch(address, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(call) });
      assert.equal(answer.status, 200);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 16 }, decide));
  await at.page.goto((await base()) + '/#/activity');
  await at.page.reload();
  await rows().first().waitFor();
  assert.equal(await rows().count(), 100);
  await until('all to be counted', async () => /1\d,\d\d\d decisions/.test(await at.page.locator('.counts').innerText()));
  for (const many of [200, 300]) {
    await at.page.getByRole('button', { name: 'Show older decisions' }).click();
    await until(many + ' rows', async () => (await rows().count()) === many);
  }
  // The first of them is found in the whole record, not only in what is shown.
  await at.page.keyboard.press('/');
  await at.page.keyboard.type('crowd42');
  await until('those with that text', async () => (await rows().count()) === 100);
  await at.page.locator('.search input').fill('crowd4200');
  await until('the one', async () => (await rows().count()) === 1);
  await at.page.getByRole('button', { name: 'Clear' }).click();
  await until('all again', async () => (await rows().count()) === 100);
  await shot(at.page, 'activity-many');
  await at.page.goto((await base()) + '/#/sessions');
  await until('a page of sessions', async () => (await at.page.locator('.sessions > li').count()) >= 50);
  await at.page.getByRole('button', { name: 'Show older sessions' }).click();
  await until('two pages of sessions', async () => (await at.page.locator('.sessions > li').count()) >= 90);
});
