import type { Command, CommandWorld } from '../../../core/talk/command.ts'
import type { Leash } from '../../../core/work/agent.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { leashMeanings, leashes } from '../../../core/work/agent.ts'
import { leashWords } from '../../../turn/agent-channel.ts'
import { enabledAgents, leashOf } from '../../../settings/enabled-agents.ts'
import { consentOptions } from '../../../core/talk/consent.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'

/** Typed in full, it sets the leash `all` and asks no more in this project. No card offers that, so no key pressed by habit gives it. */
const lasting = 'all always'

export function leashCommand(controls: DeskControls): Command {
  return {
    name: 'leash',
    words: '[read|ask|edit|all]',
    help: 'Choose how much the agents may do.',
    matters: true,
    complete: (typed) => goingOn(typed, [...leashes, lasting]),
    async run(args, world) {
      const typed = args.trim().replace(/\s+/g, ' ')
      const leash =
        typed === ''
          ? await choose(world, `How much may the agents do? Now: ${controls.standing().leash}.`, leashes.map(asOption))
          : typed === lasting
            ? 'all'
            : knownWord('leash', typed, leashes)
      if (leash === undefined) return
      if (leash === 'all' && !(await agreesToAll(controls, world, typed === lasting))) return
      controls.setLeash(leash)
      const agents = enabledAgents(controls.app().settings).map(
        (agent) => `- ${agent.name}: ${leashWords(agent, leash)}`,
      )
      world.say([`The leash is ${leash} until you leave: ${leashMeanings[leash]}.`, '', ...agents].join('\n'), 'text')
    },
  }
}

/** The command that a key runs: sets the leash without a message, and asks first if it is `all`. */
export function leashKeyCommand(controls: DeskControls): Command {
  return {
    name: 'leash',
    help: 'Choose how much the agents may do.',
    async run(args, world) {
      const leash = knownWord('leash', args.trim(), leashes)
      if (leash === 'all' && !(await agreesToAll(controls, world))) return
      controls.setLeash(leash)
      const { next, ownFlags } = controls.standing()
      if (ownFlags)
        world.say(`The leash is ${leash}, but ${next ?? 'a command of your own'} keeps to its own flags.`, 'note')
    },
  }
}

/** Asks before agents may do everything in a project. True if the person agrees, or has agreed permanently before. */
async function agreesToAll(controls: DeskControls, world: CommandWorld, always = false): Promise<boolean> {
  const { project, settings } = controls.app()
  if ((await project.doc.read()).allAgreed) return true
  const { next } = controls.standing()
  const now = leashOf(
    settings,
    settings.agents.find(({ name }) => name === next),
  )
  const picks = await world.ask(
    {
      about: 'permission',
      agent: 'termaite',
      text: `Leash all: the agents may change and delete everything that you can, run any command and use the network, without asking. Allow that in ${project.root}?`,
      from: [],
      options: consentOptions({
        once: always ? undefined : { id: 'once', label: 'Yes, until you leave' },
        always: always ? { id: 'always', label: 'Yes, and do not ask again in this project' } : undefined,
        no: { id: 'no', label: now === 'all' ? 'No' : `No, keep the leash ${now}` },
      }),
      enter: 'no',
    },
    world.signal,
  )
  const [pick] = picks ?? []
  if (pick === 'always') await project.doc.update((doc) => ({ ...doc, allAgreed: true }))
  if (pick === 'once' || pick === 'always') return true
  world.say(`The leash is ${now}.`, 'note')
  return false
}

const asOption = (leash: Leash) => ({ id: leash, label: `${leash}: ${leashMeanings[leash]}` })
