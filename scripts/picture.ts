// Makes the README's picture from the real screen: the built program in a real terminal, with scripted agents.
import type { TestContext } from 'node:test'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../test/cli/program.ts'
import { Glass } from '../test/screen/glass.ts'
import { drawn } from './drawing.ts'

const answer = `The total is summed **before** the discount is applied. \`total()\` now takes it into account:

\`\`\`ts
export function total(items: Item[], discount = 0): number {
  const sum = items.reduce((all, item) => all + item.price, 0)
  return sum * (1 - discount)
}
\`\`\`

- \`src/cart.ts\`: the discount is part of the total
- \`test/cart.test.ts\`: 12 tests, all green`

const ends: (() => void)[] = []
const machine = new Machine({ after: (end: () => void) => void ends.push(end) } as unknown as TestContext)
const folder = join(machine.project, '..', 'shop')
mkdirSync(join(folder, 'src'), { recursive: true })
execFileSync('git', ['init', '-q'], { cwd: folder })
writeFileSync(join(folder, 'src/cart.ts'), 'export const total = 0\n')
writeFileSync(join(machine.folder, 'answer.md'), answer)
machine.agents(
  {
    gemini: 'cat >/dev/null; echo "quota exceeded, resets in 3 hours" >&2; exit 1',
    claude: `cat >/dev/null; sleep 1; printf 'export function total() {\\n  return 42\\n}\\n' > src/cart.ts; cat ${join(machine.folder, 'answer.md')}`,
    codex: 'cat >/dev/null; echo done',
  },
  { rotationStrategy: 'exhaustion' },
)
Object.assign(machine, { project: folder })
const glass = new Glass(machine, { size: { cols: 100, rows: 30 } })
try {
  await glass.shows('next gemini')
  glass.type('why does the cart total come out wrong?\r')
  await glass.shows('Hand over')
  await new Promise((resolve) => setTimeout(resolve, 600))
  glass.type('1')
  // The sum of the tokens follows a moment after the closing line.
  await glass.shows((screen) => /─ claude/.test(screen) && !/· 0 tokens/.test(screen))
  mkdirSync(join(import.meta.dirname, '..', 'docs'), { recursive: true })
  const title = 'termaite: gemini is out of quota, claude continues the same turn'
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'chat.svg'), drawn(glass.emulator, title))
} finally {
  glass.end()
  for (const end of ends) end()
}
