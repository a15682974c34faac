import type { Command, CommandWorld } from '../../core/talk/command.ts'
import type { Strategy } from '../../core/work/agent.ts'
import type { AgentStanding } from '../../faces/chat/chat-desk.ts'
import type { DeskControls } from '../desk-controls.ts'
import { localTime } from '../../base/local-time.ts'
import { strategies } from '../../core/work/agent.ts'
import { enabledAgents, atDesk, nobodyWords } from '../../settings/enabled-agents.ts'
import { UsageError } from '../../core/io.ts'
import { choose, goingOn, knownWord } from './choice.ts'
import { stateWords } from './agents.ts'

/** The option that leaves the next turn to the rotation. */
const auto = 'auto'

const meanings: Record<Strategy, string> = {
  'round-robin': 'the agent after the one that answered last',
  exhaustion: 'the agent that answered last, until it fails',
  random: 'anyone',
}

/** The /switch command: chooses the agent of the next turn. */
export function rotationCommands(controls: DeskControls): Command[] {
  const names = () => enabledAgents(controls.app().settings).map(({ name }) => name)
  return [
    {
      name: 'switch',
      words: '[agent|auto]',
      help: 'Choose the agent of the next turn only.',
      matters: true,
      complete: (typed) => goingOn(typed, [...names(), auto]),
      async run(args, world) {
        if (names().length === 0) throw new UsageError(nobodyWords(controls.app().settings, atDesk))
        const agent =
          args.trim() === '' ? await pickAgent(controls, world) : knownWord('agent', args.trim(), [...names(), auto])
        if (agent === undefined) return
        controls.aim(agent === auto ? undefined : agent)
        world.say(aimedWords(agent, controls.standing().agents), 'note')
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
        world.say(`${strategy}, until you leave: ${meanings[strategy]}. /config keeps it.`, 'note')
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
  return choose(world, 'Which agent takes the next turn? For this turn only.', [
    ...agents,
    { id: auto, label: 'Let the rotation choose' },
  ])
}

/** Warns when the chosen agent is away. A cool-down is ignored for a chosen agent; other reasons show in the turn. */
function aimedWords(agent: string, agents: readonly AgentStanding[]): string {
  if (agent === auto) return 'The rotation chooses the next agent.'
  const { state, until } = agents.find(({ name }) => name === agent) ?? { state: 'ready' }
  const away = state === 'ready' ? '' : ` It is ${state}${until === undefined ? '' : ` until ${localTime(until)}`}.`
  return `${agent} takes the next turn, and only that one.${away}`
}
