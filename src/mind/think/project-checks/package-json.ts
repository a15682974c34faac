import type { Kind } from './kind.ts'
import { objectIn, wordsIn } from './kind.ts'

const locks = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
] as const

/** What npm writes where nobody said how to test, and what waits for a person's keys. */
const noCheck = /no test specified|--watch(?!=false)|react-scripts test/

export const packageJson: Kind = async (read) => {
  const own = objectIn(await read('package.json'))
  const scripts = wordsIn(own, 'scripts')
  const runner = runnerIn(own) ?? (await runnerBy(read))
  const build = ['build', 'typecheck'].find((name) => scripts[name] !== undefined)
  const isTested = scripts['test'] !== undefined && !noCheck.test(scripts['test'])
  return [
    ...(build !== undefined && !noCheck.test(scripts[build]!) ? [`${runner} run ${build}`] : []),
    // Its own `bun test` is another program than the script of that name.
    ...(isTested ? [runner === 'bun' ? 'bun run test' : `${runner} test`] : []),
  ]
}

function runnerIn({ packageManager }: Record<string, unknown>): string | undefined {
  return typeof packageManager === 'string' ? /^(npm|pnpm|yarn|bun)@/.exec(packageManager)?.[1] : undefined
}

async function runnerBy(read: Parameters<Kind>[0]): Promise<string> {
  for (const [file, runner] of locks) if ((await read(file)) !== undefined) return runner
  return 'npm'
}
