import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { join } from 'node:path'

type Pace = { concurrency: number; timeout: number }

/** Runs each file in a process of its own, in this order, and reports in words with the failures at the end. */
export async function runTests(files: string[], { concurrency, timeout }: Pace): Promise<void> {
  // Our sources lose their types and are compiled once, not in each process anew.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '..', 'node_modules', '.cache', 'termaite-tests', 'code')
  const tests = run({ files, concurrency, timeout, execArgv: ['--disable-warning=ExperimentalWarning'] })
  tests.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1
  })
  for await (const words of tests.compose(new spec())) process.stdout.write(words)
}
