import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

// Arguments narrow the run to files whose path holds one of them.
const wanted = process.argv.slice(2)
const files = globSync('test/**/*.test.ts')
  .filter((file) => !file.startsWith('test/real/'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
const run = spawnSync(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', '--test', '--test-timeout=180000', ...files],
  {
    stdio: 'inherit',
  },
)
process.exit(run.status ?? 1)
