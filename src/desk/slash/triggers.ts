import type { Command } from '../../core/talk/command.ts'
import type { Hold } from '../hold.ts'
import { skillPrompt, commandOf } from '../../agents/native/skill.ts'
import { oneLine } from '../../base/table.ts'
import { nativeAgent } from './native.ts'
import { nativeAgents } from '../../settings/enabled-agents.ts'
import { skillsOf } from './skills.ts'

/** The triggers of skills as commands; a name that is taken, and one that another skill has, is none. */
export async function triggerCommands(hold: Hold, taken: readonly string[]): Promise<Command[]> {
  // Only our own agent can load one.
  if (nativeAgents(hold.app().settings).length === 0) return []
  const found = new Map<string, Command>()
  for (const skill of (await skillsOf(hold)).skills) {
    const name = commandOf(skill)
    if (name === undefined || taken.includes(name) || found.has(name)) continue
    found.set(name, {
      name,
      words: '[request]',
      help: oneLine(`Skill: ${skill.description}`, 80),
      async run(args) {
        hold.aim(nativeAgent(hold).name)
        hold.send(skillPrompt(skill.name, args.trim() || 'do what it says.'))
      },
    })
  }
  return [...found.values()]
}
