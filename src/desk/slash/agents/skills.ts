import type { Command } from '../../../core/talk/command.ts'
import type { Skills } from '../../../native/loop/skill-search.ts'
import type { DeskControls } from '../../desk-controls.ts'
import { commandsOf, skillPrompt } from '../../../native/loop/skill.ts'
import { findSkills } from '../../../native/loop/skill-search.ts'
import { UsageError } from '../../../core/io.ts'
import { oneLine } from '../../../base/text/table.ts'
import { goingOn, knownWord } from '../shared/choice.ts'
import { isTrusted, nativeAgent } from '../shared/native-agent.ts'
import { nativeAgents } from '../../../settings/enabled-agents.ts'

const where =
  'Skills are folders with a SKILL.md in .skills, .agents/skills, .claude/skills or another CLI’s folder of skills in the project, or in your own skills folder.'

/** Lists and loads the skills of termaite's own agent. */
export function skillCommands(controls: DeskControls): Command[] {
  return [
    {
      name: 'skills',
      help: 'List the skills of termaite’s own agent.',
      async run(_args, { say }) {
        const { skills, warnings } = await skillsOf(controls)
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
      help: 'Use a skill for a request.',
      complete: async (typed) =>
        goingOn(
          typed,
          (await skillsOf(controls)).skills.map(({ name }) => name),
        ),
      async run(args, { say, screen }) {
        const [, typed = '', request = ''] = /^\s*(\S*)\s*([^]*)$/.exec(args)!
        const agent = nativeAgent(controls)
        const names = (await skillsOf(controls)).skills.map(({ name }) => name)
        if (names.length === 0) throw new UsageError(`there are no skills. ${where}`)
        if (typed === '')
          throw new UsageError(
            `the name of a skill is missing. There ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}.`,
          )
        const prompt = skillPrompt(knownWord('skill', typed, names), request)
        // Only termaite's own agent can load skills.
        controls.aim(agent.name)
        if (request.trim() !== '') return controls.send(prompt)
        screen.fill(prompt)
        say(`${agent.name} loads the skill in the next turn. Type what to use it for, and press Enter.`, 'note')
      },
    },
  ]
}

async function skillsOf(controls: DeskControls): Promise<Skills> {
  const app = controls.app()
  const { cwd, root, home } = app.place
  return findSkills({ cwd, root, home, trusted: await isTrusted(app) })
}

/** Makes a command from each skill: its trigger, otherwise its name, unless a command or another skill already has that name. */
export async function commandsOfSkills(controls: DeskControls, taken: readonly string[]): Promise<Command[]> {
  // Only termaite's own agent can load skills.
  if (nativeAgents(controls.app().settings).length === 0) return []
  const found = new Map<string, Command>()
  for (const skill of (await skillsOf(controls)).skills) {
    const name = commandsOf(skill).find((one) => !taken.includes(one) && !found.has(one))
    if (name === undefined) continue
    found.set(name, {
      name,
      words: '[request]',
      help: oneLine(`Skill: ${skill.description}`, 300),
      async run(args) {
        controls.aim(nativeAgent(controls).name)
        controls.send(skillPrompt(skill.name, args.trim() || 'do what it says.'))
      },
    })
  }
  return [...found.values()]
}
