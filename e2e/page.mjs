// The page in a real browser, view by view. Run by ./test e2e; page/harness.mjs says what it needs.
import './page/sign_in.mjs';
import './page/activity.mjs';
import './page/policy.mjs';
import './page/approvals.mjs';
import './page/hostile.mjs';
import './page/links.mjs';
import './page/tried.mjs';
import './page/memory.mjs';
import './page/flood.mjs';
import './page/many.mjs';
import './page/face.mjs';
import './page/end.mjs';
import { runAll } from './page/harness.mjs';

await runAll();
