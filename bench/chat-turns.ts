import type { Row } from './measure.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { memoryMB, sit } from './chat.ts'
import { start, withMachine } from './measure.ts'

/** The turns after which the memory is read: it must not grow between the last two. */
const marks = [100, 200, 400]

/** An agent whose every answer has 82 kB, and whose last line says the number of the turn. */
const answering = (folder: string) =>
  `cat >/dev/null; n=$(($(cat ${folder}/turns) + 1)); echo $n >${folder}/turns; cat ${folder}/answer; echo "turn $n is over"`

/** Measures the memory of the chat over many turns with long answers. */
export async function chatTurns(): Promise<Row[]> {
  return withMachine({}, async (machine) => {
    const { folder, home } = machine
    writeFileSync(join(folder, 'turns'), '0')
    writeFileSync(join(folder, 'answer'), 'A line of an answer that says *much* about the `code`.\n'.repeat(1490))
    const agent = { name: 'long', command: answering(folder), contextWindowTokens: 100_000 }
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ agents: [agent] }))
    const last = marks.at(-1)!
    const seat = sit(machine, start.slice(1))
    const after: number[] = []
    let first: number
    try {
      await seat.wrote('Welcome to')
      first = memoryMB(seat.pty.pid)
      for (let turn = 1; turn <= last; turn++) {
        await takeTurn(seat, turn)
        if (marks.includes(turn)) after.push(memoryMB(seat.pty.pid))
      }
    } finally {
      await seat.end()
    }
    const again = sit(machine, start.slice(1))
    try {
      await again.wrote('Last request')
      const opened = memoryMB(again.pty.pid)
      await takeTurn(again, last + 1)
      const detail = marks.map((turns, at) => `${after[at]!.toFixed(0)} MB after ${turns}`).join(', ')
      return [
        {
          what: `memory of the chat after ${last} turns of 82 kB`,
          value: after.at(-1)!,
          unit: 'MB',
          bar: 150,
          detail: `resident; ${first.toFixed(0)} MB at first, ${detail}`,
        },
        {
          what: `memory of a chat that is opened again after ${last} turns of 82 kB, and takes one more`,
          value: memoryMB(again.pty.pid),
          unit: 'MB',
          bar: 150,
          detail: `resident; ${opened.toFixed(0)} MB before that turn`,
        },
      ]
    } finally {
      await again.end()
    }
  })
}

async function takeTurn(seat: ReturnType<typeof sit>, turn: number): Promise<void> {
  const over = seat.wrote(`turn ${turn} is over`)
  seat.pty.write(`go on ${turn}\r`)
  await over
}
