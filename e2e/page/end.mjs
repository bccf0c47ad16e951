// What holds for the whole page, and how it ends.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { at, base, home, noise, test, until } from './harness.mjs';

test('other sites and other names are refused', async () => {
  const address = await base();
  const status = async (path, options) => (await fetch(address + path, options)).status;
  assert.equal(await status('/v1/audit'), 401);
  assert.equal(await status('/v1/stream'), 401);
  assert.equal(await status('/v1/decisions', { method: 'POST', headers: { Origin: 'https://evil.example', 'Content-Type': 'application/json' }, body: '{"command":"ls"}' }), 403);
  assert.equal(await status('/v1/decisions', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{"command":"ls"}' }), 415);
  assert.equal(await status('/v1/decisions'), 405);
});

test('when the server stops the page says so, and nothing was printed to the console before', async () => {
  assert.deepEqual(noise, []);
  at.server.kill('SIGTERM');
  const code = await until('the server to stop', () => at.server.exitCode !== null && [at.server.exitCode]);
  assert.equal(code[0], 0);
  assert.ok(!existsSync(join(home, '.local/state/sayso/sayso.sock')), 'the socket is left behind');
  await at.page.getByText('connecting', { exact: true }).waitFor();
});
