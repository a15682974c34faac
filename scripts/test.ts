import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'

// Arguments narrow the run to files whose path holds one of them.
const wanted = process.argv.slice(2)
const files = globSync('test/**/*.test.ts')
  .filter((file) => !file.startsWith('test/real/'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
// Without a file the runner would look for some by itself, and find those that drive the real CLIs.
if (files.length === 0) {
  console.error(`no test's path holds ${wanted.join(' or ')}`)
  process.exit(1)
}
const run = spawnSync(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', '--test', '--test-timeout=180000', ...files],
  {
    stdio: 'inherit',
  },
)
process.exit(run.status ?? 1)
