import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { OngoingWork } from '../shared/ongoing-work.ts'
import { oneLine } from '../../../base/text/table.ts'
import { UsageError } from '../../../core/io.ts'
import { endOfTurn, runOngoing, mostTurns, withMost } from '../shared/ongoing-work.ts'

/** The most turns of a loop with an interval, and the most that a person can name. */
const usualTurns = 20

const units = { s: 1000, m: 60_000, h: 3_600_000 } as const

/** One prompt again and again: so many times, or with a pause between the beginnings of two turns. */
export function loopCommand(controls: DeskControls, ongoing: OngoingWork): Command {
  return {
    name: 'loop',
    beside: true,
    words: '[--max N] <count|interval> <prompt> | off',
    help: 'Send a prompt again and again: /loop 5 …, or /loop 10m ….',
    async run(args, world) {
      if (ongoing.told(args, world, 'loop')) return
      const { most: named, rest } = withMost(args)
      const [, number = '', unit, prompt = ''] = /^(\d+)(?:([smh])|x)?\s+([^]+)$/.exec(rest) ?? []
      if (prompt === '' || Number(number) === 0)
        throw new UsageError(
          'type how often or how far apart, and the prompt: /loop 5 fix one more warning, or /loop 10m is the build green?',
        )
      if (/^(?:[!#]|\/[\w:-]+(?:\s|$))/.test(prompt))
        throw new UsageError(`a loop sends prompts to agents, and no agent knows ${prompt.split(/\s/)[0]}.`)
      if (unit === undefined && named !== undefined)
        throw new UsageError(`--max is for an interval; /loop ${number} sends the prompt ${number} times.`)
      const every = unit === undefined ? 0 : Number(number) * units[unit as keyof typeof units]
      const most = unit === undefined ? checkedCount(Number(number)) : (named ?? usualTurns)
      const pace = unit === undefined ? '' : `, ${number} ${unit} apart`
      world.say(
        `Sending this for ${mostTurns(most)}${pace}: ${oneLine(prompt, 200)}. Esc or /loop off ends it.`,
        'note',
      )
      await runOngoing(controls, world, ongoing, { kind: 'loop', words: prompt }, (signal) =>
        repeated(controls, { prompt, most, every, signal }),
      )
    },
  }
}

const checkedCount = (count: number): number => {
  if (count <= 100) return count
  throw new UsageError(`/loop sends a prompt at most 100 times, not ${count}.`)
}

type Loop = { prompt: string; most: number; every: number; signal: AbortSignal }

/** A turn begins once the one before is over, also if that took longer than the interval. */
async function repeated(controls: DeskControls, { prompt, most, every, signal }: Loop): Promise<string | undefined> {
  const { clock } = controls.app().io
  for (let turn = 1; turn <= most; turn++) {
    const began = clock.elapsed()
    controls.showProgress(`loop: turn ${turn} of ${most}`)
    const end = endOfTurn(await controls.turn(prompt, signal))
    if (signal.aborted) return undefined
    if (end !== undefined) return end
    const left = every - (clock.elapsed() - began)
    if (turn === most || left <= 0) continue
    controls.showProgress(`loop: waits after turn ${turn} of ${most}`)
    await clock.sleep(left, signal)
    if (signal.aborted) return undefined
  }
  return `all ${mostTurns(most)} are done`
}
