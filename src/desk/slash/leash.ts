import type { Command } from '../../core/talk/command.ts'
import type { Leash } from '../../core/work/agent.ts'
import type { Hold } from '../hold.ts'
import { leashes } from '../../core/work/agent.ts'
import { leashMeanings, leashWords } from '../../app/agent-channel.ts'
import { enabledAgents } from '../../settings/enabled-agents.ts'
import { choose, goingOn, knownWord } from './choose.ts'

export function leashCommand(hold: Hold): Command {
  return {
    name: 'leash',
    words: '[read|ask|edit|all]',
    help: 'How much the agents may do.',
    matters: true,
    complete: (typed) => goingOn(typed, leashes),
    async run(args, world) {
      const leash =
        args.trim() === ''
          ? await choose(world, `How much may the agents do? Now: ${hold.standing().leash}.`, leashes.map(asOption))
          : knownWord('leash', args.trim(), leashes)
      if (leash === undefined) return
      hold.setLeash(leash)
      const agents = enabledAgents(hold.app().settings).map((agent) => `- ${agent.name}: ${leashWords(agent, leash)}`)
      world.say([`The leash is ${leash} until you leave: ${leashMeanings[leash]}.`, '', ...agents].join('\n'), 'text')
    },
  }
}

const asOption = (leash: Leash) => ({ id: leash, label: `${leash}: ${leashMeanings[leash]}` })
