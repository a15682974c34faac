// Makes the pictures of the chat from a real run, the built program in a real terminal with scripted agents: one that moves for the
// README, and one of its last screen.
import type { TestContext } from 'node:test'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Machine } from '../test/cli/program.ts'
import { ProgramWindow } from '../test/screen/program-window.ts'
import { drawn } from './drawing.ts'
import { MovingPicture } from './moving-picture.ts'

const answer = `The total is summed **before** the discount is applied. \`total()\` now takes it into account:

\`\`\`ts
export function total(items: Item[], discount = 0): number {
  const sum = items.reduce((all, item) => all + item.price, 0)
  return sum * (1 - discount)
}
\`\`\`

- \`src/cart.ts\`: the discount is part of the total
- \`test/cart.test.ts\`: 12 tests, all green`

const cart = `export function total(items, discount = 0) {
  const sum = items.reduce((all, item) => all + item.price, 0)
  return sum * (1 - discount)
}
`

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const ends: (() => void)[] = []
const machine = new Machine({ after: (end: () => void) => void ends.push(end) } as unknown as TestContext)
const folder = join(machine.project, '..', 'shop')
mkdirSync(join(folder, 'src'), { recursive: true })
execFileSync('git', ['init', '-q'], { cwd: folder })
writeFileSync(join(folder, 'src/cart.ts'), 'export const total = 0\n')
writeFileSync(join(machine.folder, 'answer.md'), `${answer}\n`)
writeFileSync(join(machine.folder, 'cart.ts'), cart)
// An agent's words come line by line, as they do from a model.
const slowly = `while IFS= read -r line; do printf '%s\\n' "$line"; sleep 0.15; done < ${join(machine.folder, 'answer.md')}`
machine.agents(
  {
    gemini: 'cat >/dev/null; sleep 1; echo "quota exceeded, resets in 3 hours" >&2; exit 1',
    claude: `cat >/dev/null; sleep 1; cp ${join(machine.folder, 'cart.ts')} src/cart.ts; ${slowly}`,
    codex: 'cat >/dev/null; echo done',
  },
  { rotationStrategy: 'exhaustion' },
)
Object.assign(machine, { project: folder })
const window = new ProgramWindow(machine, { size: { cols: 100, rows: 30 } })
try {
  await window.shows(/Welcome to[^]*next gemini/)
  const moving = new MovingPicture(window.emulator)
  await pause(900)
  for (const sign of 'why does the cart total come out wrong?') {
    window.type(sign)
    await pause(60)
  }
  await pause(500)
  window.type('\r')
  await window.shows('Hand over')
  await pause(2_000)
  window.type('1')
  // The sum of the tokens follows a moment after the closing line.
  await window.shows((screen) => /─ claude/.test(screen) && !/· 0 tokens/.test(screen))
  await pause(500)
  const title = 'termaite: gemini is out of quota, claude continues the same turn'
  const docs = join(import.meta.dirname, '..', 'docs')
  writeFileSync(join(docs, 'chat.svg'), drawn(window.emulator, title))
  writeFileSync(join(docs, 'turn.svg'), moving.drawn(title))
} finally {
  window.end()
  for (const end of ends) end()
}
