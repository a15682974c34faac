import type { Command } from '../../core/talk/command.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { DeskControls } from '../desk-controls.ts'
import { leashMeanings, leashes } from '../../core/work/agent.ts'
import { leashWords } from '../../app/agent-channel.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'
import { choose, goingOn, knownWord } from './choice.ts'

export function leashCommand(controls: DeskControls): Command {
  return {
    name: 'leash',
    words: '[read|ask|edit|all]',
    help: 'Choose how much the agents may do.',
    matters: true,
    complete: (typed) => goingOn(typed, leashes),
    async run(args, world) {
      const leash =
        args.trim() === ''
          ? await choose(world, `How much may the agents do? Now: ${controls.standing().leash}.`, leashes.map(asOption))
          : knownWord('leash', args.trim(), leashes)
      if (leash === undefined) return
      controls.setLeash(leash)
      const agents = enabledAgents(controls.app().settings).map(
        (agent) => `- ${agent.name}: ${leashWords(agent, leash)}`,
      )
      world.say([`The leash is ${leash} until you leave: ${leashMeanings[leash]}.`, '', ...agents].join('\n'), 'text')
    },
  }
}

const asOption = (leash: Leash) => ({ id: leash, label: `${leash}: ${leashMeanings[leash]}` })
