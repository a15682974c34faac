// One process that holds many turns in the same project: argv is the number of turns and its own word.
import { realClock } from '../../src/base/time/clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { openApp } from '../../src/turn/app.ts'
import { placeOf } from '../../src/home/place.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { runTurn } from '../../src/app/turn.ts'

const [turns, word] = process.argv.slice(2)
const signal = new AbortController().signal
const io = {
  env: process.env,
  cwd: process.cwd(),
  in: process.stdin,
  piped: false,
  out: process.stdout,
  err: process.stderr,
  clock: realClock,
  signal,
}
const place = placeOf(io)
const settings = await readSettings({ home: place.home }, { env: io.env })
const app = await openApp(io, place, settings, { budget: noBudget })
for (let i = 0; i < Number(turns); i++) {
  for await (const event of runTurn(app, { prompt: `${word} ${i}`, signal })) {
    if (event.type === 'end' && !event.outcome.ok) throw new Error(event.outcome.failure.message)
  }
}
