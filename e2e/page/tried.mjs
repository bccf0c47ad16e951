// What held runs want: the changes of a tried run on one card, and a file that a run waits for.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, card, everywhere, harmless, home, policyFile, project, ready, shot, test } from './harness.mjs';

const { SAYSO } = process.env;
const POLICY = 'default = "ask"\n[allow]\nread = ["./**"]\nwrite = ["./made/**"]\n[hold]\nwrite = ["./**"]\nrun = ["@scripts", "@code"]\n';
const env = { ...process.env, HOME: home };
const canHold = () => spawnSync(SAYSO, ['doctor', '--hold'], { env, cwd: project }).status === 0;

function run(words, script) {
  writeFileSync(join(project, 'script.py'), script);
  const child = spawn(SAYSO, ['run', ...words, '--', 'python3', 'script.py'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let err = '';
  child.stderr.on('data', (data) => { err += data; });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, err })));
}

const CHANGES = `
open('one.lock', 'w').write('first\\nSECOND <b>x</b> \\u202egnp\\n')
open('two.lock', 'w').write('new\\n')
open('blob.lock', 'wb').write(bytes(range(256)))
`;

test('the changes of a tried run are one card, and those that are chosen are made', async () => {
  if (!canHold()) { console.log('not run: this machine cannot hold runs'); return; }
  const before = existsSync(policyFile) ? readFileSync(policyFile, 'utf8') : '';
  mkdirSync(join(home, '.config/sayso'), { recursive: true });
  writeFileSync(policyFile, POLICY);
  try {
    writeFileSync(join(project, 'one.lock'), 'first\nsecond\n');
    await at.page.keyboard.press('Escape');
    await at.page.keyboard.press('1');
    const done = run(['--try'], CHANGES);
    const question = card('held_changes');
    await ready(question);
    const text = await question.innerText();
    assert.match(text, /1 changed, 2 added/);
    assert.match(text, /binary, contents not shown, 256 bytes/);
    assert.match(text, /python3 script\.py/);
    assert.match(await question.locator('.diff .removed').first().innerText(), /second/);
    assert.match(await question.locator('.diff .added').first().innerText(), /SECOND <b>x<\/b>/);
    await harmless(at.page);
    await everywhere('approvals', async (page) => { await card('held_changes', page).waitFor(); });
    await shot(at.page, 'tried');
    assert.match(await question.locator('.yes').innerText(), /Allow all/);

    // By keyboard: the box of the second file is left out, and `a` allows the rest.
    const box = question.getByRole('checkbox').nth(2);
    await box.focus();
    await at.page.keyboard.press('Space');
    assert.equal(await box.isChecked(), false);
    await question.getByRole('button', { name: 'Allow 2 of 3' }).waitFor();
    await question.focus();
    await at.page.keyboard.press('a');
    const { code, err } = await done;
    assert.equal(code, 125, err);
    assert.match(err, /2 changes made, 1 thrown away/);
    assert.match(readFileSync(join(project, 'one.lock'), 'utf8'), /SECOND/);
    assert.ok(existsSync(join(project, 'blob.lock')) && !existsSync(join(project, 'two.lock')));

    // None: no answer but a no is left.
    const again = run(['--try'], "open('three.lock', 'w').write('x')\nopen('four.lock', 'w').write('x')\n");
    const other = card('three.lock');
    await ready(other);
    await other.getByRole('button', { name: 'Select none' }).click();
    assert.equal(await other.locator('.yes').isDisabled(), true);
    await other.locator('.no').click();
    assert.equal((await again).code, 125);
    assert.ok(!existsSync(join(project, 'three.lock')));

    // A run that waits says how long a yes lasts.
    const outside = '/var/tmp/sayso-e2e-' + process.pid;
    const waits = run([], `open(${JSON.stringify(outside)}, 'w').write('x')\n`);
    const live = card('held_write');
    await ready(live);
    assert.match(await live.innerText(), /until the run ends/);
    await live.locator('.no').click();
    assert.equal((await waits).code, 1);
    assert.ok(!existsSync(outside));
  } finally {
    writeFileSync(policyFile, before);
  }
});
