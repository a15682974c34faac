import type { Row } from './measure.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acpMemory } from './acp-memory.ts'
import { chat, chatMemory, firstPaint } from './chat.ts'
import { chatTurns } from './chat-turns.ts'
import { coordinator } from './coordinator.ts'
import { crew } from './crew.ts'
import { dashboard } from './dashboard.ts'
import { diagnostics } from './diagnostics.ts'
import { echo } from './echo.ts'
import { failover } from './failover.ts'
import { fleet } from './fleet.ts'
import { hub } from './hub.ts'
import { histories } from './histories.ts'
import { longAnswer } from './long-answer.ts'
import { prefixOfLongTurn } from './long-turn.ts'
import { measuredRotation } from './measured-rotation.ts'
import { start } from './start.ts'
import { startModules } from './start-modules.ts'
import { terminals } from './terminals.ts'
import { tokens } from './tokens.ts'
import { wall } from './wall.ts'
import { warm } from './warm.ts'

// Arguments choose among them; without any, all are run.
const benches: Record<string, () => Promise<Row[]>> = {
  start,
  'start-modules': startModules,
  'first-paint': firstPaint,
  chat,
  'chat-memory': chatMemory,
  'chat-turns': chatTurns,
  'acp-memory': acpMemory,
  echo,
  failover,
  histories,
  hub,
  fleet,
  dashboard,
  'measured-rotation': measuredRotation,
  tokens,
  coordinator,
  'long-answer': longAnswer,
  'long-turn': prefixOfLongTurn,
  terminals,
  crew,
  wall,
  warm,
  diagnostics,
}
const wanted = process.argv.slice(2)
const results: Row[] = []
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for (const row of await bench()) {
    results.push(row)
    const number = row.unit === 'ratio' ? `${row.value.toFixed(2)} ×` : `${row.value.toFixed(1)} ${row.unit}`
    const bar =
      row.bar === undefined ? '' : row.value <= row.bar ? ` (bar ${row.bar}: met)` : ` (bar ${row.bar}: MISSED)`
    console.log(`${row.what}: ${number}${bar} — ${row.detail}`)
  }
}
const folder = join(import.meta.dirname, 'results')
mkdirSync(folder, { recursive: true })
writeFileSync(
  join(folder, 'latest.json'),
  `${JSON.stringify({ at: new Date().toISOString(), node: process.version, results }, null, 2)}\n`,
)
