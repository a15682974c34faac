import type { Command } from '../../../core/talk/command.ts'
import type { DeskControls } from '../../desk-controls.ts'
import type { RaceWish } from '../../../race/race-turn.ts'
import { defined } from '../../../base/defined.ts'
import { UsageError } from '../../../core/io.ts'
import { atDesk, enabledAgents, noAgentWords } from '../../../settings/enabled-agents.ts'
import { goingOn, knownWord } from '../shared/choice.ts'

const undoWords = '/undo'
const says = {
  show: (racer: number) => `/race show ${racer}`,
  choose: (racer: number) => `/race choose ${racer}`,
  undo: undoWords,
}

/** The /race command: gives one request to several agents at once, and brings one result into the project. */
export function raceCommand(controls: DeskControls): Command {
  const names = () => enabledAgents(controls.app().settings).map(({ name }) => name)
  return {
    name: 'race',
    words: '<request> [-a agents] [--check command] [--first] | show [racer] | choose <racer>',
    help: 'Give one request to several agents at once, and choose the best result.',
    async complete(typed) {
      const [, before, last] = /^(.*-a\s+(?:[^\s,]+,)*)([^\s,]*)$/.exec(typed) ?? []
      if (before !== undefined) return goingOn(last!, names()).map((name) => `${before}${name}`)
      return goingOn(typed, ['show', 'choose '])
    },
    async run(args, { say }) {
      const app = controls.app()
      const [, action, word] = /^(show|choose)(?:\s+(\S+))?$/.exec(args.trim()) ?? []
      if (action !== undefined) {
        const { lastRace, racerNamed, refuseWithoutResult, runChoice, shownRace } =
          await import('../../../race/kept-race.ts')
        const race = await lastRace(app)
        if (action === 'show') return say(await shownRace(app, race, word))
        if (word === undefined) throw new UsageError('name the result that is brought in, for example: /race choose 2')
        const racer = racerNamed(race, word)
        refuseWithoutResult(race, racer)
        return controls.begin(`/race choose ${racer.racer}`, (on, request) =>
          runChoice(on, request, { race, racer, undoWords }),
        )
      }
      if (enabledAgents(app.settings).length === 0) throw new UsageError(noAgentWords(app.settings, atDesk))
      const { openRace, racePrompt, runRace } = await import('../../../race/race-turn.ts')
      const race = await openRace(app, wishIn(args, names()))
      await controls.begin(racePrompt(race.wish), (on, request) => runRace(on, request, race, says))
    },
  }
}

/** Reads `<request> [-a agents] [--check command] [--first]`, with the flags in any place. */
function wishIn(args: string, names: readonly string[]): RaceWish {
  let rest = ` ${args.trim()} `
  const taken = (flag: RegExp): string | undefined => {
    const [whole, ...values] = flag.exec(rest) ?? []
    if (whole === undefined) return undefined
    rest = rest.replace(whole, ' ')
    return values.find((value) => value !== undefined) ?? ''
  }
  const check = taken(/\s--check[\s=]+(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+))(?=\s)/)
  const agents = taken(/\s(?:-a|--agents?)[\s=]+([^\s,]+(?:,[^\s,]+)*)(?=\s)/)
  const first = taken(/\s--first(?=\s)/) !== undefined
  const stray = /\s(--?(?:a|agents?|check))(?=\s)/.exec(rest)?.[1]
  if (stray !== undefined)
    throw new UsageError(
      `${stray} needs a value, for example: /race fix the failing test -a claude,codex --check "npm test"`,
    )
  const [, quoted] = /^\s*"([^"]*)"\s*$/.exec(rest) ?? []
  return defined({
    request: (quoted ?? rest).replaceAll(/[ \t]+/g, ' ').trim(),
    agents: (agents ?? '').split(',').flatMap((name) => (name === '' ? [] : [knownWord('agent', name, names)])),
    check: check?.replaceAll('\\"', '"'),
    first: first || undefined,
  })
}
