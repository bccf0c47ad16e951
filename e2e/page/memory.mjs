// What is remembered and used: grants, limits, sessions and runs.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { HOSTILE_NAME, asks, at, card, everywhere, fits, harmless, policyFile, ready, shot, test, until } from './harness.mjs';

const go = async (key, heading) => {
  await at.page.keyboard.press('Escape');
  await at.page.keyboard.press(key);
  await at.page.getByRole('heading', { name: heading }).first().waitFor();
};

test('a remembered answer is listed, and revoked only when that is confirmed', async () => {
  const remember = async (command, session) => {
    await go('1', 'Approvals');
    const waits = asks({ command, wait: 60, context: { agent: 'gardener', session } });
    const question = card(command);
    await ready(question);
    await question.getByLabel('for').selectOption('session');
    await question.getByLabel('width').selectOption('program');
    await question.locator('.yes').click();
    assert.equal((await waits).verdict, 'allow');
  };
  await remember('git stash drop', 'garden-1');
  await remember('git clean -n', 'garden-2').catch(() => {});
  assert.equal((await asks({ command: 'git stash drop', context: { agent: 'gardener', session: 'garden-1' } })).verdict, 'allow');

  await go('4', 'Remembered answers');
  const entry = at.page.locator('.entry', { hasText: 'git stash drop' });
  await entry.getByText('used 2 times').or(entry.getByText(/used\s*2 times/)).first().waitFor();
  assert.match(await entry.innerText(), /garden-1/);
  assert.match(await entry.innerText(), /given by/);
  await shot(at.page, 'grants');

  // The first press asks, with the focus on the way out; Enter again keeps it.
  await at.page.keyboard.press('j');
  assert.match(await at.page.evaluate(() => document.activeElement.className), /entry/);
  await entry.getByRole('button', { name: 'Revoke' }).focus();
  await at.page.keyboard.press('Enter');
  await entry.getByRole('button', { name: 'No, keep it' }).waitFor();
  assert.equal(await at.page.evaluate(() => document.activeElement.innerText), 'No, keep it');
  await shot(at.page, 'grants-confirm');
  await at.page.keyboard.press('Enter');
  await entry.getByRole('button', { name: 'Revoke' }).waitFor();
  assert.equal((await asks({ command: 'git stash drop', context: { agent: 'gardener', session: 'garden-1' } })).verdict, 'allow');

  await at.page.getByLabel('include expired').check();
  await entry.getByRole('button', { name: 'Revoke' }).click();
  await entry.getByRole('button', { name: 'Yes, revoke' }).click();
  await entry.getByText('revoked', { exact: true }).waitFor();
  // The focus is on nothing that another press would set off.
  assert.match(await at.page.evaluate(() => document.activeElement.className), /entry/);
  assert.equal((await asks({ command: 'git stash drop', context: { agent: 'gardener', session: 'garden-1' } })).verdict, 'ask');
  await at.page.getByLabel('include expired').uncheck();
  await until('it to be gone', async () => (await entry.count()) === 0);
});

test('limits show what is used and what is left', async () => {
  writeFileSync(policyFile, 'extends = ["developer"]\n\n[limits.session]\ncalls = 5\nblocked = 3\nat_limit = "ask"\n\n[limits.day]\ncalls = 1000\n');
  await go('5', 'Limits');
  const used = () => at.page.locator('.entry', { hasText: 'counted-1' });
  await until('the limits to count', async () => {
    await asks({ command: 'git status', context: { agent: 'counter', session: 'counted-1' } });
    await at.page.waitForTimeout(300);
    return (await used().count()) === 1;
  });
  await at.page.getByText('at most 5 calls a session').waitFor();
  for (let n = 0; n < 5; n++) await asks({ command: 'git status', context: { agent: 'counter', session: 'counted-1' } });
  await used().getByText('used up').waitFor();
  assert.match(await used().innerText(), /\d of 5/);
  await at.page.locator('.entry', { hasText: 'day' }).first().waitFor();
  await shot(at.page, 'limits');
  await at.page.getByRole('button', { name: 'day', exact: true }).click();
  await until('only days', async () => (await used().count()) === 0);
  await at.page.getByRole('button', { name: 'all', exact: true }).click();
  await used().waitFor();
  // Callers without a token share one budget, whatever they call their sessions: the tests that follow need room in it.
  writeFileSync(policyFile, 'extends = ["developer"]\n\n[limits.session]\ncalls = 500\n\n[limits.day]\ncalls = 1000\n');
  await until('the wider limit', async () => (await asks({ command: 'git status', context: { agent: 'counter', session: 'counted-1' } })).verdict === 'allow');
});

test('sessions and runs show who did what, and lead to their decisions', async () => {
  for (const command of ['git status', 'cat .env', 'git log']) await asks({ command, context: { agent: 'walker', session: 'walk-1', run: 'run-7' } });
  await go('6', 'Sessions');
  const row = at.page.locator('.sessions li', { hasText: 'walk-1' });
  await row.getByText('3 decisions').waitFor();
  await row.locator('.row').focus();
  await at.page.keyboard.press('Enter');
  await row.getByText('2 allow · 0 ask · 1 deny').waitFor();
  await shot(at.page, 'sessions');
  await row.getByRole('link', { name: 'Its decisions' }).click();
  await at.page.getByRole('heading', { name: 'Activity' }).waitFor();
  await until('its decisions alone', async () => (await at.page.locator('.decisions > li').count()) === 3);
  await go('6', 'Sessions');
  await at.page.getByRole('button', { name: 'runs' }).click();
  await at.page.locator('.sessions li', { hasText: 'run-7' }).waitFor();
  await at.page.getByRole('button', { name: 'sessions' }).click();
});

test('hostile names are harmless in all of them', async () => {
  const name = HOSTILE_NAME + 'N'.repeat(3000);
  const waits = asks({ command: 'git stash drop', wait: 60, context: { agent: name, session: name, run: name, tenant: undefined } });
  await go('1', 'Approvals');
  const question = card('git stash drop').last();
  await ready(question);
  await question.getByLabel('for').selectOption('session');
  await question.locator('.yes').click();
  await waits;
  for (const [key, heading, place] of [['4', 'Remembered answers', '.entry'], ['5', 'Limits', '.entry'], ['6', 'Sessions', '.sessions li']]) {
    await go(key, heading);
    const found = at.page.locator(place, { hasText: 'owner' }).first();
    await found.waitFor();
    if (key === '6') await found.locator('.row').click();
    await harmless(at.page);
    await fits(at.page, heading);
  }
});

test('grants, limits and sessions work in the dark and on a phone, and axe-core finds no serious fault', async () => {
  await everywhere('grants', (other) => other.locator('.entry').first().waitFor());
  await everywhere('limits', (other) => other.locator('.entry').first().waitFor());
  await everywhere('sessions', async (other) => {
    await other.locator('.sessions .row').first().click();
    await other.locator('.detail').waitFor();
  });
});
