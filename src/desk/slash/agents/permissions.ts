import type { Command } from '../../../core/talk/command.ts'
import type { Leash } from '../../../core/work/agent.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { UsageError } from '../../../core/io.ts'
import { sandboxOf } from '../../../native/native-sandbox.ts'
import { sandboxWords } from '../../../native/wall-words.ts'
import { leashOf, nativeAgents } from '../../../settings/enabled-agents.ts'
import { block } from '../shared/code-block.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'

/** Shows the permission rules beside the leash. Only rules from "always" answers can be removed here. */
export function permissionsCommand(controls: DeskControls): Command {
  return {
    name: 'permissions',
    words: '[remove]',
    help: 'Show permission rules, or remove one.',
    complete: (typed) => goingOn(typed, ['remove']),
    async run(args, world) {
      if (args.trim() !== '') knownWord('subcommand', args.trim(), ['remove'])
      const { project, settings, native } = controls.app()
      const { rules: kept = [], outside = [], shown = [], keys } = await project.doc.read()
      if (args.trim() === '') {
        const sandbox = await sandboxWords(settings, sandboxOf(native), ownLeash(controls))
        return world.say(rulesText(controls, { kept, outside, shown, keys }, sandbox), 'text')
      }
      if (kept.length + outside.length + shown.length === 0 && keys === undefined)
        throw new UsageError(
          'no rule was allowed for always in this project, so there is nothing to remove. To change the rules of the settings, type /config.',
        )
      const options = [
        ...kept.map((rule) => ({ id: rule, label: rule })),
        ...outside.map((rule) => ({ id: `outside ${rule}`, label: `${rule}, outside the sandbox` })),
        ...shown.map((place) => ({ id: `shown ${place}`, label: `commands read ${place}` })),
        ...(keys === undefined ? [] : [{ id: keysId, label: keyWords[keys] }]),
      ]
      const picked = await choose(world, 'Which rule do you want to remove?', options)
      if (picked === undefined) return
      if (picked === keysId) {
        await project.doc.update(({ keys: _, ...doc }) => doc)
        return world.say('termaite asks again whether commands may see the files with keys of this project.', 'note')
      }
      const without = (rules: readonly string[] = [], before = '') => rules.filter((one) => before + one !== picked)
      await project.doc.update((doc) => ({
        ...doc,
        rules: without(doc.rules),
        outside: without(doc.outside, 'outside '),
        shown: without(doc.shown, 'shown '),
      }))
      if (shown.some((place) => picked === `shown ${place}`))
        return world.say(`Commands do not see ${picked.slice('shown '.length)} any more.`, 'note')
      const rule = picked.replace(/^outside /, '')
      world.say(
        `The rule ${rule} was removed. From the next turn on, termaite asks again, unless another rule allows it.`,
        'note',
      )
    },
  }
}

const keysId = 'the answer about keys'

/** The person's answer about the project's files with keys. */
const keyWords = {
  shown: 'commands see the files with keys of this project',
  hidden: 'commands do not see the files with keys of this project',
}

/** The leash of our own agent, to which the rules and the sandbox apply. */
function ownLeash(controls: DeskControls): Leash {
  const { settings } = controls.app()
  return leashOf(settings, nativeAgents(settings)[0])
}

type KeptRules = {
  kept: readonly string[]
  outside: readonly string[]
  shown: readonly string[]
  keys: keyof typeof keyWords | undefined
}

function rulesText(controls: DeskControls, { kept, outside, shown, keys }: KeptRules, sandbox: string): string {
  const { mode, deny, ask, allow, run, project } = controls.app().settings.permissions
  const lists = {
    'refused in this run': run.deny,
    'refused by the settings': deny,
    'refused by this project': project.deny,
    'allowed in this run': run.allow,
    'asked for by the settings': ask,
    'asked for by this project': project.ask,
    'allowed by the settings': allow,
    'allowed in this project': kept,
    'run outside the sandbox in this project': outside,
    'read by commands of this project': shown,
    'answered in this project': keys === undefined ? [] : [keyWords[keys]],
  }
  const lines = Object.entries(lists).flatMap(([what, rules]) =>
    rules.length === 0 ? [] : [`${what}:`, ...rules.map((rule) => `  ${rule}`)],
  )
  return [
    `The permission mode is ${mode} and the leash is ${ownLeash(controls)}. An action runs only when both allow it.`,
    lines.length > 0 ? block(lines.join('\n')) : 'There are no permission rules.',
    sandbox,
    ...(kept.length + outside.length + shown.length > 0 || keys !== undefined
      ? ['To remove a rule that you allowed in this project, type /permissions remove.']
      : []),
  ].join('\n')
}
