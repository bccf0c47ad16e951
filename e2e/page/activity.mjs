// What was decided: live, found by what it is, with its trace, its counts, and what would have spared questions.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { HOSTILE, HOSTILE_NAME, asks, at, base, everywhere, fits, harmless, hook, project, shot, test, until } from './harness.mjs';

const rows = () => at.page.locator('.decisions > li');
const shown = (many) => until(many + ' rows', async () => (await rows().count()) === many);
const show = async (filters = '') => {
  await at.page.goto((await base()) + '/#/activity' + filters);
  await at.page.getByRole('heading', { name: 'Activity' }).waitFor();
};

test('a decision made by the hook appears live', async () => {
  await at.page.keyboard.press('2');
  await at.page.getByText('No decisions yet.').waitFor();
  const denied = hook('Read', { file_path: join(project, '.env') });
  assert.match(denied.stdout, /"permissionDecision":"deny"/);
  const allowed = hook('Bash', { command: 'git status --short', description: 'look' });
  assert.match(allowed.stdout, /"permissionDecision":"allow"/);
  await shown(2);
  await at.page.locator('.list').getByText('git status --short').waitFor();
  await at.page.locator('.list .verdict.deny').first().waitFor();
});

test('a decision made over HTTP appears live', async () => {
  const answer = await asks({ command: 'cargo test --workspace', context: { agent: 'coder' } });
  assert.equal(answer.verdict, 'allow');
  await at.page.locator('.list').getByText('cargo test --workspace').waitFor();
});

test('keys move through the list and open the full trace of a decision', async () => {
  await at.page.evaluate(() => document.activeElement.blur());
  await at.page.keyboard.press('j');
  await at.page.keyboard.press('j');
  await at.page.keyboard.press('j');
  await at.page.keyboard.press('Enter');
  const detail = at.page.locator('.detail');
  await detail.waitFor();
  const text = await detail.innerText();
  assert.match(text, /policy\s+[0-9a-f]{12}/);
  // The effect, what was said of it, by which stage and which rule.
  assert.match(text, /read\s+\.\/\.env\s+deny\s+rules\s+deny\s+secrets/);
  await shot(at.page, 'detail');
  await at.page.keyboard.press('Enter');
  await until('it to close', async () => (await detail.count()) === 0);
  await at.page.keyboard.press('?');
  await at.page.getByRole('dialog').waitFor();
  await at.page.keyboard.press('Escape');
  await until('help to close', async () => (await at.page.getByRole('dialog').count()) === 0);
});

test('whoever reads a decision is not pushed away by new ones', async () => {
  await at.page.keyboard.press('Enter');
  const detail = at.page.locator('.detail');
  await detail.waitFor();
  const before = (await detail.boundingBox()).y;
  await asks({ command: 'git status --ignored' });
  await at.page.getByRole('button', { name: 'Show 1 new decision' }).waitFor();
  assert.equal(await at.page.locator('.list').getByText('git status --ignored').count(), 0);
  assert.equal((await detail.boundingBox()).y, before);
  await at.page.getByRole('button', { name: 'Show 1 new decision' }).click();
  await at.page.locator('.list').getByText('git status --ignored').waitFor();
});

test('filters find decisions by verdict, agent, session, tool, rule, text and time, and stand in the address', async () => {
  await asks({ command: 'git push origin filtered', context: { agent: 'pusher', session: 'filter-1' } });
  await asks({ command: 'git log -1', context: { agent: 'pusher', session: 'filter-1' } });
  await show();
  const fill = async (name, text) => {
    await at.page.locator('.search input').fill(name + ':' + text);
    await at.page.keyboard.press('Enter');
    await at.page.locator('.search .chip.on', { hasText: name + ': ' + text }).waitFor();
  };
  await fill('session', 'filter-1');
  await shown(2);
  await at.page.getByRole('button', { name: 'ask', exact: true }).click();
  await shown(1);
  assert.match(at.page.url(), /session=filter-1/);
  assert.match(at.page.url(), /verdict=ask/);
  await at.page.reload();
  await shown(1);
  await at.page.getByRole('button', { name: 'Clear' }).click();
  await fill('agent', 'pusher');
  await shown(2);
  await fill('rule', 'git-push');
  await shown(1);
  await fill('rule', 'no-such-rule');
  await at.page.getByText('No decision matches.').waitFor();
  await at.page.getByRole('button', { name: 'Clear' }).click();
  await fill('tool', 'file_read');
  await shown(1);
  await at.page.getByRole('button', { name: 'Clear' }).click();
  await at.page.keyboard.press('Escape');
  await at.page.keyboard.press('/');
  await at.page.keyboard.type('origin filtered');
  await shown(1);
  await at.page.keyboard.type(' last:1h ');
  await at.page.locator('.search .chip.on', { hasText: 'last hour' }).waitFor();
  await shown(1);
  // A decision that comes while a filter is on is shown only where it matches.
  await asks({ command: 'git push origin filtered again' });
  await asks({ command: 'git status -sb' });
  await shown(2);
  await at.page.getByRole('button', { name: 'Clear' }).click();
});

test('counts are shown over time, by verdict, agent and rule, and lead to what they count', async () => {
  await show();
  const counts = at.page.locator('.counts');
  await counts.getByText(/\d+ decisions in the last 7 days/).waitFor();
  assert.match(await counts.locator('svg').getAttribute('aria-label'), /allow \d+, ask \d+, deny \d+/);
  assert.ok((await counts.locator('rect.deny').count()) >= 1);
  await counts.getByRole('button', { name: 'by agent' }).click();
  await until('agents over time', async () => /pusher \d+/.test(await counts.locator('svg').getAttribute('aria-label')));
  await counts.getByRole('button', { name: 'by rule' }).click();
  await until('rules over time', async () => /git-push \d+/.test(await counts.locator('svg').getAttribute('aria-label')));
  await counts.getByRole('button', { name: 'by verdict' }).click();
  await shot(at.page, 'counts');
  await counts.getByRole('button', { name: /Only agent pusher/ }).click();
  await shown(2);
  assert.match(at.page.url(), /agent=pusher/);
  await at.page.getByRole('button', { name: 'Clear' }).click();
});

test('how often people were asked is told, and which rules would have spared them, ready to copy', async () => {
  await at.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (const name of ['a', 'b', 'c']) await asks({ command: 'acmectl status ' + name, context: { agent: 'operator' } });
  await show();
  const prompts = at.page.locator('.prompts');
  await until('the questions to be counted', async () => Number((await prompts.innerText()).match(/(\d+) prompts/)?.[1]) >= 4);
  await prompts.getByRole('button', { name: 'Which rules would have avoided these prompts?' }).click();
  const rule = prompts.locator('.savings > li', { hasText: 'acmectl status' });
  await rule.getByText('3 avoided').waitFor();
  await rule.scrollIntoViewIfNeeded();
  await shot(at.page, 'spared');
  await rule.getByRole('button', { name: /Copy/ }).click();
  await rule.getByText('Copied').waitFor();
  assert.equal(await at.page.evaluate(() => navigator.clipboard.readText()), '[[rule]]\nallow = { run = "acmectl status" }\n');
});

test('a suggested rule is tried on the record, and asks once more before it is written', async () => {
  const prompts = at.page.locator('.prompts');
  assert.match(await prompts.innerText(), /prompts?, [\d.]+ a day/);
  const rule = prompts.locator('.savings > li', { hasText: 'acmectl status' });
  await rule.getByRole('button', { name: 'Try it on the record' }).click();
  await rule.locator('.tried').waitFor();
  const [, before, after] = (await rule.locator('.tried').innerText()).replaceAll(',', '').match(/days (\d+) would be asked about now and (\d+)/);
  assert.equal(Number(before) - Number(after), 3);
  await rule.locator('.flips').getByText('3 from ask to allow').waitFor();
  await shot(at.page, 'tried');
  await rule.getByRole('button', { name: 'Add to my policy' }).click();
  await rule.getByText('Add this rule to your policy file?').waitFor();
  await at.page.keyboard.press('Escape');
  await rule.getByRole('button', { name: 'Add to my policy' }).waitFor();
});

test('what people did with Sayso itself is in the record too', async () => {
  await show();
  await at.page.locator('.search input').fill('what:people');
  await at.page.keyboard.press('Enter');
  assert.match(at.page.url(), /kind=server/);
  const started = at.page.locator('.list .row', { hasText: 'server started' });
  await started.first().click();
  const text = await at.page.locator('.detail').innerText();
  assert.match(text, /"pid": \d+/);
  assert.match(text, /"policy": "[0-9a-f]+"/);
  assert.doesNotMatch(text, /#k=/);
  await at.page.locator('.list .row', { hasText: 'server signed-in' }).first().waitFor();
  await shot(at.page, 'by-people');
  await at.page.getByRole('button', { name: /Remove what/ }).click();
  await at.page.locator('.list .row .verdict').first().waitFor();
});

test('a hostile command is harmless', async () => {
  hook('Bash', { command: HOSTILE });
  hook('mcp__evil__<b>tool</b>', { text: HOSTILE });
  await asks({ command: 'git push hostile', context: { agent: HOSTILE_NAME, session: HOSTILE_NAME } });
  await show();
  await at.page.locator('.list').getByText('<img src=x', { exact: false }).first().waitFor();
  // The last of them: rows move while new ones come.
  await at.page.locator('.list').getByText('git push hostile').waitFor();
  await at.page.locator('.list .row', { hasText: '<img src=x' }).first().click();
  await at.page.locator('.detail').waitFor();
  const text = await harmless(at.page);
  assert.ok(text.includes('\\u{202e}'), 'the override is not shown');
  assert.ok(text.length < 60_000, 'long text is not folded');
  await fits(at.page);
  await shot(at.page, 'hostile');
  await at.page.locator('.list .row[aria-expanded=true]').click();
});

test('activity works in the dark and on a phone, and axe-core finds no serious fault', async () => {
  await everywhere('activity', async (other) => {
    await other.getByRole('button', { name: 'Which rules would have avoided these prompts?' }).click();
    await other.locator('.savings').getByRole('button', { name: 'Try it on the record' }).first().click();
    await other.locator('.tried').first().waitFor();
    await other.locator('.decisions .row', { hasText: 'git push origin filtered' }).first().click();
    await other.locator('.detail').waitFor();
  });
});
