import type { Leash, Turn } from '../../src/core/work/agent.ts'
import type { Mode } from '../../src/safety/rules/permission-modes.ts'
import type { WallFacts } from '../../src/safety/rules/command-place.ts'
import { realClock } from '../../src/base/clock.ts'
import { policy } from '../../src/safety/rules/permission-policy.ts'
import { parseRules } from '../../src/safety/rules/permission-rule.ts'
import { memoryStore } from '../../src/store/memory-store.ts'
import { nativeTools } from '../../src/tools/all.ts'

export type VerdictOptions = {
  root: string
  home: string
  leash: Leash
  mode?: Mode
  sandbox: boolean
  allow?: string[]
}

/** Whether the native agent runs a command at a leash without a question (`yes`), asks first, or refuses it. */
export async function commandVerdict(
  command: string,
  { root, home, leash, mode = 'default', sandbox, allow = [] }: VerdictOptions,
): Promise<'yes' | 'ask' | 'no'> {
  const { tools } = nativeTools({ root, env: {}, clock: realClock, blobs: memoryStore().blobs('output') })
  const bash = tools.find(({ name }) => name === 'bash')!
  const { rules } = parseRules({ allow })
  const facts: WallFacts = { network: 'asked', temporary: '/tmp' }
  const wall = async () => (sandbox && leash !== 'all' ? facts : undefined)
  const decide = policy({ root, home, mode: () => mode, rules: () => rules, tools, wall })
  const turn = { cwd: root, leash, ask: async () => undefined, signal: new AbortController().signal }
  return (await decide(bash, { command }, turn as unknown as Turn)).verdict
}
