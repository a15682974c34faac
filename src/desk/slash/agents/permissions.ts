import type { Command } from '../../../core/talk/command.ts'
import type { Leash } from '../../../core/work/agent.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { UsageError } from '../../../core/io.ts'
import { sandboxOf } from '../../../native/command-wall.ts'
import { sandboxWords } from '../../../native/wall-words.ts'
import { leashOf, nativeAgents } from '../../../settings/enabled-agents.ts'
import { block } from '../shared/code-block.ts'
import { choose, goingOn, knownWord } from '../shared/choice.ts'
import { closeFolder } from './add-dir.ts'

/** Shows the permission rules beside the leash. Only permissions that the person gave permanently can be removed here. */
export function permissionsCommand(controls: DeskControls): Command {
  return {
    name: 'permissions',
    words: '[remove]',
    help: 'Show permission rules and what you allowed, or take something back.',
    complete: (typed) => goingOn(typed, ['remove']),
    async run(args, world) {
      if (args.trim() !== '') knownWord('subcommand', args.trim(), ['remove'])
      const { settings, native } = controls.app()
      const grants = await grantsOf(controls)
      if (args.trim() === '') {
        const sandbox = await sandboxWords(settings, sandboxOf(native), ownLeash(controls))
        return world.say(rulesText(controls, grants, sandbox), 'text')
      }
      if (grants.length === 0)
        throw new UsageError(
          'no command or tool is always allowed in this project, so there is nothing to remove. To change the rules of the settings, type /config.',
        )
      const options = grants.map(({ id, label }) => ({ id, label }))
      const picked = await choose(world, 'What do you want to take back?', options)
      const grant = grants.find(({ id }) => id === picked)
      if (grant) world.say(await grant.takeBack(), 'note')
    },
  }
}

/** Something that the person always allows in this project. `line` is its line in the list `list` of all rules. */
type Grant = { id: string; list: string; line: string; label: string; takeBack(): Promise<string> }

async function grantsOf(controls: DeskControls): Promise<Grant[]> {
  const { project, native, thinking } = controls.app()
  const { rules = [], outside = [], shown = [], keys, allAgreed, thinkingAgreed } = await project.doc.read()
  const without = (list: 'rules' | 'outside' | 'shown', line: string) =>
    project.doc.update((doc) => ({ ...doc, [list]: (doc[list] ?? []).filter((one) => one !== line) }))
  const asksAgain = (rule: string) =>
    `The rule ${rule} was removed. From the next turn on, termaite asks again, unless another rule allows it.`
  const answered = (id: string, line: string, takeBack: Grant['takeBack']): Grant => ({
    ...{ id, list: 'answered in this project', line, label: line, takeBack },
  })
  const grants: (Grant | false | undefined)[] = [
    ...rules.map((rule) => ({
      ...{ id: rule, list: 'allowed in this project', line: rule, label: rule },
      takeBack: async () => (await without('rules', rule), asksAgain(rule)),
    })),
    ...outside.map((rule) => ({
      ...{ id: `outside ${rule}`, list: 'run outside the sandbox in this project', line: rule },
      label: `${rule}, outside the sandbox`,
      takeBack: async () => (await without('outside', rule), asksAgain(rule)),
    })),
    ...shown.map((place) => ({
      ...{ id: `shown ${place}`, list: 'read by commands of this project', line: place },
      label: `commands read ${place}`,
      takeBack: async () => (await without('shown', place), `Commands do not see ${place} any more.`),
    })),
    ...native.folders.now.map((folder) => ({
      ...{ id: `folder ${folder}`, list: 'used by agents like the project', line: folder },
      label: `agents use ${folder} like the project`,
      takeBack: () => closeFolder(controls, folder),
    })),
    keys &&
      answered('the answer about keys', keyWords[keys], async () => {
        await project.doc.update(({ keys: _, ...doc }) => doc)
        return 'termaite asks again whether commands may see the files with keys of this project.'
      }),
    thinkingAgreed &&
      answered('the answer about thinking', 'thinking starts without a question about its cost', async () => {
        await project.doc.update(({ thinkingAgreed: _, ...doc }) => doc)
        thinking.agreed = false
        return 'termaite asks again before thinking that costs many calls.'
      }),
    allAgreed &&
      answered('the leash all', 'the leash all is set without a question', async () => {
        await project.doc.update(({ allAgreed: _, ...doc }) => doc)
        if (controls.app().settings.leash !== 'all') return 'termaite asks again before the leash is all.'
        controls.setLeash('edit')
        return 'The leash is edit, and termaite asks again before it is all.'
      }),
  ]
  return grants.filter((grant) => typeof grant === 'object')
}

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

function rulesText(controls: DeskControls, grants: readonly Grant[], sandbox: string): string {
  const { mode, deny, ask, allow, run, project } = controls.app().settings.permissions
  const lists: Record<string, readonly string[]> = {
    'refused in this run': run.deny,
    'refused by the settings': deny,
    'refused by this project': project.deny,
    'allowed in this run': run.allow,
    'asked for by the settings': ask,
    'asked for by this project': project.ask,
    'allowed by the settings': allow,
  }
  for (const { list, line } of grants) lists[list] = [...(lists[list] ?? []), line]
  const lines = Object.entries(lists).flatMap(([what, rules]) =>
    rules.length === 0 ? [] : [`${what}:`, ...rules.map((rule) => `  ${rule}`)],
  )
  return [
    `The permission mode is ${mode} and the leash is ${ownLeash(controls)}. An action runs only when both allow it.`,
    lines.length > 0 ? block(lines.join('\n')) : 'There are no permission rules.',
    sandbox,
    ...(grants.length > 0 ? ['To take back what you allowed in this project, type /permissions remove.'] : []),
  ].join('\n')
}
