import { run } from './install.mjs'
import { hasSqlite } from './sqlite.mjs'

/** A share of the tests on the back end that Chromium is about to have: what asks most of IndexedDB. */
const FILES = ['ttl', 'verbs', 'queries', 'schema', 'cost', 'migration', 'model'].map((name) => `test/${name}.test.ts`)

if (!(await hasSqlite())) {
  console.log('This Chromium does not have the SQLite back end; npm run test:browsers names what it has.')
} else if (!run('vitest', ['run', '--project', 'chromium-sqlite/here', ...FILES])) process.exit(1)
