import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { Strategy } from '../../../core/work/agent.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { localTime } from '../../../base/time/local-time.ts'
import { strategies } from '../../../core/work/agent.ts'
import { enabledAgents, atDesk, noAgentWords } from '../../../settings/enabled-agents.ts'
import { UsageError } from '../../../core/io.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'
import { stateWords } from '../shared/state-words.ts'

/** The option that leaves the next turn to the rotation. */
const auto = 'auto'
/** The flag that applies a choice to all turns. */
const stay = '--stay'

const meanings: Record<Strategy, string> = {
  'round-robin': 'the agent after the one that answered last',
  exhaustion: 'the agent that answered last, until it fails',
  random: 'any agent, by chance',
  measured: 'the agent whose answers here were good most often for their cost and time, with a few tries of the others',
}

/** The /switch command: chooses the agent of the next turn. */
export function rotationCommands(controls: DeskControls): Command[] {
  const names = () => enabledAgents(controls.app().settings).map(({ name }) => name)
  return [
    {
      name: 'switch',
      words: '[agent|auto] [--stay]',
      help: 'Choose the agent of the next turn, or with --stay of all turns.',
      matters: true,
      complete: (typed) => goingOn(typed, [...names().flatMap((name) => [name, `${name} ${stay}`]), auto]),
      async run(args, world) {
        if (names().length === 0) throw new UsageError(noAgentWords(controls.app().settings, atDesk))
        const [name, ...flags] = args.split(/\s+/).filter((word) => word !== '')
        for (const flag of flags) knownWord('option', flag, [stay])
        const agent =
          name === undefined ? await pickAgent(controls, world) : knownWord('agent', name, [...names(), auto])
        if (agent === undefined) return
        const stays = flags.includes(stay) && agent !== auto
        // A choice for all turns is cleared by the next choice; otherwise it would apply again after one turn.
        if (stays || controls.standing().stays) controls.stay(stays ? agent : undefined)
        controls.aim(stays || agent === auto ? undefined : agent)
        world.say(aimedWords(agent, stays, controls), 'note')
      },
    },
    {
      name: 'strategy',
      words: '[strategy]',
      help: 'Choose the rotation strategy.',
      complete: (typed) => goingOn(typed, strategies),
      async run(args, world) {
        const now = controls.standing().strategy
        const strategy =
          args.trim() === ''
            ? await choose(world, `Which rotation strategy? Now: ${now}.`, strategies.map(asOption))
            : knownWord('strategy', args.trim(), strategies)
        if (strategy === undefined) return
        controls.setStrategy(strategy)
        world.say(
          `The rotation strategy is ${strategy} until you leave: ${meanings[strategy]}. To keep it, set "rotationStrategy" with /config.`,
          'note',
        )
      },
    },
  ]
}

const asOption = (strategy: Strategy) => ({ id: strategy, label: `${strategy}: ${meanings[strategy]}` })

function pickAgent(controls: DeskControls, world: CommandWorld): Promise<string | undefined> {
  const agents = controls.standing().agents.map((agent) => ({
    id: agent.name,
    label: `${agent.name} (${stateWords(agent)})`,
  }))
  return choose(world, 'Which agent takes the next turn? Later turns follow the rotation again.', [
    ...agents,
    { id: auto, label: 'Let the rotation choose' },
  ])
}

/** Warns if the chosen agent is away. A chosen agent ignores its cool-down; if its quota is exhausted, the turn asks. */
function aimedWords(agent: string, stays: boolean, controls: DeskControls): string {
  if (agent === auto) return 'The rotation chooses the next agent.'
  const standing = controls.standing().agents.find(({ name }) => name === agent)
  const { state, until } = standing ?? { state: 'ready' }
  const when = until === undefined ? '' : ` until ${localTime(until)}`
  const away =
    state === 'parked' || state === 'busy'
      ? ` ${awayNames[state]}${when}: you are asked what to do when you send a request.`
      : ''
  const out = state === 'out' && standing?.why !== undefined ? ` It cannot answer now: ${standing.why}` : ''
  return stays
    ? `${agent} takes all turns until you leave or type /switch auto.${away}${out}`
    : `${agent} takes the next turn, and only that one.${away}${out}`
}

const awayNames = { parked: 'It is out of quota', busy: 'It is busy' }
