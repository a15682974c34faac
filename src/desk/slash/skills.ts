import type { Command } from '../../core/talk/command.ts'
import type { Skills } from '../../agents/native/skill-search.ts'
import type { Hold } from '../hold.ts'
import { skillPrompt } from '../../agents/native/skill.ts'
import { findSkills } from '../../agents/native/skill-search.ts'
import { UsageError } from '../../core/io.ts'
import { oneLine } from '../../base/table.ts'
import { goingOn, knownWord } from './choose.ts'
import { isTrusted, nativeAgent } from './native.ts'

const where =
  'Skills are folders with a SKILL.md in .skills, .agents/skills or .claude/skills, or in the skills of your own.'

/** What termaite's own agent can learn on demand. */
export function skillCommands(hold: Hold): Command[] {
  return [
    {
      name: 'skills',
      help: 'The skills that termaite’s own agent can load.',
      async run(_args, { say }) {
        const { skills, warnings } = await skillsOf(hold)
        const lines = skills.map(
          ({ name, description, trigger, from, unlisted }) =>
            `- ${[name, from === 'project' ? 'of the project' : 'your own', ...(unlisted ? ['only by /skill'] : []), ...(trigger ? [`trigger ${trigger}`] : [])].join(' · ')}: ${oneLine(description, 200)}`,
        )
        const none = skills.length === 0 ? [`There are no skills. ${where}`] : []
        say([...none, ...lines, ...warnings.map((words) => `- ${words}`)].join('\n'), 'text')
      },
    },
    {
      name: 'skill',
      words: '<name> [request]',
      help: 'Let termaite’s own agent load a skill, and use it for a request.',
      complete: async (typed) =>
        goingOn(
          typed,
          (await skillsOf(hold)).skills.map(({ name }) => name),
        ),
      async run(args, { say, screen }) {
        const [, typed = '', request = ''] = /^\s*(\S*)\s*([^]*)$/.exec(args)!
        const agent = nativeAgent(hold)
        const names = (await skillsOf(hold)).skills.map(({ name }) => name)
        if (names.length === 0) throw new UsageError(`there are no skills. ${where}`)
        if (typed === '')
          throw new UsageError(`which one? There ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}.`)
        const prompt = skillPrompt(knownWord('skill', typed, names), request)
        // Only our own agent knows them.
        hold.aim(agent.name)
        if (request.trim() !== '') return hold.send(prompt)
        screen.fill(prompt)
        say(`${agent.name} takes the next turn and loads it: say what for, and send.`, 'note')
      },
    },
  ]
}

export async function skillsOf(hold: Hold): Promise<Skills> {
  const app = hold.app()
  const { cwd, root, home } = app.place
  return findSkills({ cwd, root, home, trusted: await isTrusted(app) })
}
