import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { OngoingWork } from '../shared/ongoing-work.ts'
import { oneLine } from '../../../base/text/table.ts'
import { stripAnsi } from '../../../base/text/ansi.ts'
import { UsageError } from '../../../core/io.ts'
import { endOfTurn, runOngoing, mostTurns, withMost } from '../shared/ongoing-work.ts'

const usualTurns = 10
/** After this many results that say the same, the agent is not getting anywhere. */
const mostSame = 3
/** The exit codes of a shell that could not run the command. */
const cannotRun = [126, 127]

/** Turn after turn until the person's own check passes. */
export function goalCommand(controls: DeskControls, ongoing: OngoingWork): Command {
  return {
    name: 'goal',
    beside: true,
    words: '[--max N] <check> | off',
    help: 'Go on, turn after turn, until your check command exits with 0.',
    async run(args, world) {
      if (ongoing.told(args, world, 'goal')) return
      const { most = usualTurns, rest: check } = withMost(args)
      if (check === '') throw new UsageError('type a command that checks the goal, for example: /goal npm test')
      world.say(
        `Going on until this check exits with 0, for at most ${mostTurns(most)}: ${oneLine(check, 200)}. Esc or /goal off ends it.`,
        'note',
      )
      await runOngoing(controls, world, ongoing, { kind: 'goal', words: check }, (signal) =>
        pursued(controls, { check, most, signal }),
      )
    },
  }
}

type Goal = { check: string; most: number; signal: AbortSignal }

/** Runs the check and a turn in turn. Returns how it ended, as a sentence; undefined if the person ended it. */
async function pursued(controls: DeskControls, { check, most, signal }: Goal): Promise<string | undefined> {
  let [last, same] = ['', 0]
  for (let turn = 1; ; turn++) {
    const done = turn - 1
    controls.showProgress(done === 0 ? 'goal: first check' : `goal: check after turn ${done} of ${most}`)
    const result = await controls.command(check, signal)
    if (signal.aborted) return undefined
    if (result?.exit === undefined) return 'the check did not run to its end'
    const { exit, output } = result
    if (exit === 0) return done === 0 ? 'the check passes already' : `the check passes after ${mostTurns(done)}`
    if (cannotRun.includes(Number(exit))) return `the check cannot run: ${oneLine(output, 200)}`
    const now = `${exit} ${withoutTimes(output)}`
    same = now === last ? same + 1 : 1
    last = now
    if (same === mostSame) return `the check failed in the same way ${same} times in a row`
    if (done === most) return `the check still fails after ${mostTurns(most)}`
    controls.showProgress(`goal: turn ${turn} of ${most}`)
    const end = endOfTurn(await controls.turn(goalPrompt({ check, turn, most, exit }), signal))
    if (signal.aborted) return undefined
    if (end !== undefined) return end
  }
}

function goalPrompt({ check, turn, most, exit }: { check: string; turn: number; most: number; exit: number | string }) {
  const how = typeof exit === 'number' ? `It exits with ${exit} now` : `The signal ${exit} stops it now`
  return [
    `Make this check pass (turn ${turn} of ${most}):`,
    '',
    check,
    '',
    `${how}; its output is that of the command before this message. termaite runs it again after your answer. Fix the cause, and leave the check as strict as it is.`,
  ].join('\n')
}

/** An output without what differs from run to run though nothing changed: colours, durations and times of day. */
const withoutTimes = (output: string): string =>
  stripAnsi(output)
    .replaceAll(/\b\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds?|minutes?|m)\b/g, '')
    .replaceAll(/\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\b/g, '')
    .trim()
